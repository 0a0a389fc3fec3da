/** What a monitor looks at, in a word for people; credentials of an address are left out. */
export function targetOf(monitor: Readonly<Record<string, unknown>>): string {
  const text = (field: string): string => {
    const value = monitor[field];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  switch (monitor['type']) {
    case 'port':
    case 'mqtt':
    case 'smtp':
      return text('port') === '' ? text('hostname') : `${text('hostname')}:${text('port')}`;
    case 'ping':
    case 'ntp':
    case 'dns':
      return text('hostname');
    case 'docker':
      return text('docker_container');
    case 'postgres':
    case 'redis':
      return placeOf(text('databaseConnectionString'));
    case 'push':
    case 'group':
    case 'manual':
      return '';
    default:
      return withoutCredentials(text('url')) || text('hostname');
  }
}

/** Where a database is, without who signs in to it. */
function placeOf(connection: string): string {
  const url = URL.parse(connection);
  return url === null ? '' : `${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

/** An address as it may be shown to anybody. */
export function withoutCredentials(address: string): string {
  const url = URL.parse(address);
  if (url === null || (url.username === '' && url.password === '')) return address;
  url.username = '';
  url.password = '';
  return url.href;
}
