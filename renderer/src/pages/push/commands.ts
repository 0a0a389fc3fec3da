/** A text in single quotes, as a POSIX shell takes it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export interface Written {
  readonly topic: string;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly click: string;
  readonly markdown: boolean;
  readonly delay: string;
}

/** The curl command that publishes the same. The token stays a variable: what is copied holds no secret. */
export function curlOf(server: string, { topic, message, ...given }: Written): string {
  const headers = [
    ['Title', given.title],
    ['Priority', given.priority === 3 ? '' : String(given.priority)],
    ['Tags', given.tags.join(',')],
    ['Click', given.click],
    ['Markdown', given.markdown ? 'yes' : ''],
    ['Delay', given.delay],
  ].filter(([, value]) => value !== '');
  return [
    'curl -H "Authorization: Bearer $TOKEN"',
    ...headers.map(([name, value]) => `-H ${quoted(`${name ?? ''}: ${value ?? ''}`)}`),
    // Unlike -d this keeps line breaks and takes no leading @ for a file.
    `--data-raw ${quoted(message)}`,
    quoted(`${server}/${topic}`),
  ].join(' ');
}

/** Ready commands for clients that people have; `open`: nobody needs a token. */
export function clientsOf(
  server: string,
  topic: string,
  open: { readonly reads: boolean; readonly publishes: boolean },
) {
  const { protocol, host } = new URL(server);
  const apprise = `${protocol === 'https:' ? 'ntfys' : 'ntfy'}://${open.publishes ? '' : 'TOKEN@'}${host}/${topic}`;
  const url = `${server}/${topic}`;
  const headers = open.publishes ? '' : ', headers={"Authorization": "Bearer TOKEN"}';
  return [
    ['ntfy command line', `ntfy subscribe ${open.reads ? '' : '--token TOKEN '}${url}`],
    ['Python', `import requests; requests.post("${url}", data="Hello"${headers})`],
    ['Apprise', apprise],
  ] as const;
}
