/** What a monitor looks at, in a word for people; credentials of an address are left out. */
export function targetOf(monitor: Readonly<Record<string, unknown>>): string {
  const text = (field: string): string => {
    const value = monitor[field];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  switch (monitor['type']) {
    case 'port':
    case 'smtp':
      return text('port') === '' ? text('hostname') : `${text('hostname')}:${text('port')}`;
    case 'ping':
    case 'dns':
      return text('hostname');
    case 'docker':
      return text('docker_container');
    case 'push':
    case 'group':
    case 'manual':
      return '';
    default:
      return withoutCredentials(text('url')) || text('hostname');
  }
}

/** An address as it may be shown to anybody. */
export function withoutCredentials(address: string): string {
  const url = URL.parse(address);
  if (url === null || (url.username === '' && url.password === '')) return address;
  url.username = '';
  url.password = '';
  return url.href;
}
