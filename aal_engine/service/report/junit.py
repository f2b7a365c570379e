"""The report that CI systems read: one JUnit test case per check."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from aal_engine.decide.decision import Decision
from aal_engine.service.report.row import headline, row


def junit(decision: Decision) -> str:
    """Return a JUnit XML document: a check that blocks is a failure, an advisory one is skipped."""
    rows = [row(check) for check in decision.checks]
    suite = ET.Element(
        "testsuite",
        name=f"release gate: {decision.agent} {decision.version}",
        tests=str(len(rows)),
        failures=str(sum(line.mark == "BLOCK" for line in rows)),
        skipped=str(sum(line.mark == "warn" for line in rows)),
        errors="0",
        time="0",
        timestamp=decision.decided_at.removesuffix("Z").partition(".")[0],
    )
    for line in rows:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=line.check,
            name=" ".join(filter(None, (line.metric or line.check, line.where))),
            time="0",
        )
        numbers = " -> ".join(filter(None, (line.baseline, line.current)))
        told = "; ".join(filter(None, (line.says, numbers, line.change, line.statistics)))
        if line.mark == "BLOCK":
            ET.SubElement(
                case, "failure", message=line.says or line.change, type="blocked"
            ).text = told
        elif line.mark == "warn":
            ET.SubElement(case, "skipped", message=f"advisory: {told}")
        elif told:
            ET.SubElement(case, "system-out").text = told
    ET.SubElement(suite, "system-out").text = headline(decision)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
