"""The registry's databases, for the faults that they must survive."""

from registry.offices import database as database
from registry.offices import office as office
from registry.offices import prepared_file as prepared_file
from registry.offices import prepared_url as prepared_url
from registry.offices import url as url
