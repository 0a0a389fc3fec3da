/**
 * Source of a regular expression for names of external services, such as `home-assistant` or `2fauth`: labels of host
 * names. The hyphen is escaped for the `pattern` of form fields.
 */
export const externalServiceName = '[a-z0-9](?:[a-z0-9\\-]{0,30}[a-z0-9])?';
