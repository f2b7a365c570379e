"""The registry's databases and offices, for the tests of this folder."""

from registry.authority import authority as authority
from registry.offices import database as database
from registry.offices import office as office
from registry.offices import prepared_file as prepared_file
from registry.offices import prepared_url as prepared_url
from registry.offices import url as url
