/** What a monitor looks at, in a word for people; credentials of an address are left out. */
export function targetOf(monitor: Readonly<Record<string, unknown>>): string {
  const text = (field: string): string => {
    const value = monitor[field];
    if (field === 'hostname' && typeof value === 'string') return hostWithoutCredentials(value);
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

/** A name of a host, which for MQTT may be a whole address. */
export function hostWithoutCredentials(host: string): string {
  return host.includes('://') || host.includes('@') || host.includes('?') ? withoutCredentials(host) : host;
}

/** Where a database is, without who signs in to it. */
function placeOf(connection: string): string {
  const url = URL.parse(connection);
  return url === null ? '' : `${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

const placeholder = '***';

/** An address without what only its owner may know: user, password, and the values of its query. */
export function withoutCredentials(address: string, hidden = placeholder): string {
  const url = URL.parse(address);
  // What cannot be parsed may have credentials anywhere before an @ and after a question mark.
  if (url === null) return address.replace(/^([a-z+]+:\/\/)?[^@/]*@/i, '$1').replace(/\?.*$/s, '');
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isPlain) return address;
  url.username = '';
  url.password = '';
  url.hash = '';
  const names = [...url.searchParams.entries()].map(([name, value]) =>
    // A query such as `?SECRET` is a name without a value.
    value === '' ? hidden : `${encodeURIComponent(name)}=${hidden}`,
  );
  url.search = names.join('&');
  return url.href;
}
