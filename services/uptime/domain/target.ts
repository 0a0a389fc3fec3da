/** Returns the display name of a monitor's target, without credentials. */
export function getTarget(monitor: Readonly<Record<string, unknown>>): string {
  const text = (field: string): string => {
    const value = monitor[field];
    if (field === 'hostname' && typeof value === 'string') return removeHostCredentials(value);
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
      return getDatabaseAddress(text('databaseConnectionString'));
    case 'push':
    case 'group':
    case 'manual':
      return '';
    default:
      return removeCredentials(text('url')) || text('hostname');
  }
}

/** Removes credentials from a host name, which can be a URL for MQTT. */
export function removeHostCredentials(host: string): string {
  return host.includes('://') || host.includes('@') || host.includes('?') ? removeCredentials(host) : host;
}

/** Returns host and path of a connection string. */
function getDatabaseAddress(connection: string): string {
  const url = URL.parse(connection);
  return url === null ? '' : `${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

const placeholder = '***';

/** Replaces user, password and query values of a URL. */
export function removeCredentials(address: string, replacement = placeholder): string {
  const url = URL.parse(address);
  // A text that is not a URL may contain credentials before an @ and after a question mark.
  if (url === null) return address.replace(/^([a-z+]+:\/\/)?[^@/]*@/i, '$1').replace(/\?.*$/s, '');
  const hasNoSecrets = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (hasNoSecrets) return address;
  url.username = '';
  url.password = '';
  url.hash = '';
  const names = [...url.searchParams.entries()].map(([name, value]) =>
    // A query such as `?SECRET` is parsed as a name without a value.
    value === '' ? replacement : `${encodeURIComponent(name)}=${replacement}`,
  );
  url.search = names.join('&');
  return url.href;
}
