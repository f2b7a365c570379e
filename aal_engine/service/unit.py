"""A schedule as the machine's own schedulers know it: cron, systemd, Kubernetes.

Each calls `aal schedule run --once` every five minutes, which runs what is due by the policy and by
what was run: a call too many does nothing, a run that failed is tried again, and the policy's zone and
jitter hold whatever the scheduler makes of them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from aal_engine.decide.monitoring import Timetable

Kind: TypeAlias = Literal["cron", "systemd", "kubernetes"]

EVERY: Final = "*/5 * * * *"


def cron(command: Sequence[str], timetable: Timetable, folder: Path) -> str:
    """Return the lines of a crontab; a percent sign would end a command there.

    What cron mails is standard error: failures, breaches and alarms.
    """
    line = f"cd {shlex.quote(str(folder))} && {shlex.join(command)}".replace("%", "\\%")
    return f"# {timetable.cron}, {timetable.zone}\n{EVERY} {line} > /dev/null\n"


def systemd(command: Sequence[str], timetable: Timetable, folder: Path) -> str:
    """Return a service and its timer, which asks every five minutes whether a slot is due."""
    words = " ".join(map(_systemd_word, command))
    return f"""# /etc/systemd/system/aal-schedule.service
[Unit]
Description=Scheduled re-run of the golden set ({timetable.cron}, {timetable.zone})
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
WorkingDirectory={_systemd_word(str(folder))}
ExecStart={words}

# /etc/systemd/system/aal-schedule.timer
[Timer]
OnCalendar=*:0/5
Persistent=true

[Install]
WantedBy=timers.target
"""


def kubernetes(command: Sequence[str], timetable: Timetable, folder: Path) -> str:
    """Return a CronJob; the image and the volume with the ledger are for its reader to name."""
    told = json.dumps(list(command))
    return f"""# {timetable.cron}, {timetable.zone}
apiVersion: batch/v1
kind: CronJob
metadata:
  name: aal-schedule
spec:
  schedule: {json.dumps(EVERY)}
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 240
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: aal-schedule
              image: REGISTRY/aal-engine:TAG
              workingDir: {json.dumps(str(folder))}
              command: {told}
              volumeMounts:
                - {{name: work, mountPath: {json.dumps(str(folder))}}}
          volumes:
            - name: work
              persistentVolumeClaim: {{claimName: aal-work}}
"""


def _systemd_word(word: str) -> str:
    """Quote a word for a unit file, where % and $ stand for something."""
    plain = word.replace("%", "%%").replace("$", "$$")
    if plain and all(c.isalnum() or c in "-_./:=,@+%$" for c in plain):
        return plain
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


UNITS: Final[Mapping[Kind, Callable[[Sequence[str], Timetable, Path], str]]] = {
    "cron": cron,
    "systemd": systemd,
    "kubernetes": kubernetes,
}
