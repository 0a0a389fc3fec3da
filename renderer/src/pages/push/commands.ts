import type { WrittenAction } from '../../../../services/contracts/push/api.ts';

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
  /** Address of a file elsewhere. */
  readonly attach: string;
  /** Name of a file of this device; empty without one. */
  readonly file: string;
  /** How the file is called at the readers. */
  readonly filename: string;
  readonly actions: readonly WrittenAction[];
}

/** The curl command that publishes the same. The token stays a variable: what is copied holds no secret. */
export function curlOf(server: string, { topic, message, file, ...given }: Written): string {
  const headers = [
    ['Title', given.title],
    ['Priority', given.priority === 3 ? '' : String(given.priority)],
    ['Tags', given.tags.join(',')],
    ['Click', given.click],
    ['Markdown', given.markdown ? 'yes' : ''],
    ['Delay', given.delay],
    ['Attach', file === '' ? given.attach : ''],
    ['Filename', given.filename || file],
    ['Actions', given.actions.length === 0 ? '' : JSON.stringify(given.actions.map(spelled))],
    // The body is the file then, and a header cannot hold a line break.
    ['Message', file === '' ? '' : message.replaceAll('\n', String.raw`\n`)],
  ].filter(([, value]) => value !== '');
  return [
    'curl -H "Authorization: Bearer $TOKEN"',
    ...headers.map(([name, value]) => `-H ${quoted(`${name ?? ''}: ${value ?? ''}`)}`),
    // Unlike -d this keeps line breaks and takes no leading @ for a file.
    file === '' ? `--data-raw ${quoted(message)}` : `-T ${quoted(file)}`,
    quoted(`${server}/${topic}`),
  ].join(' ');
}

/** As the peer's clients write a button. */
function spelled({ kind, label, url, method, body, clear }: WrittenAction) {
  const request = kind === 'http' ? { method, ...(body === '' || method === 'GET' ? {} : { body }) } : {};
  return { action: kind, label, url, ...request, ...(clear ? { clear } : {}) };
}

/** Ready commands for clients that people have; the tokens are those that each is sent with, empty where nobody needs one. */
export function clientsOf(
  server: string,
  topic: string,
  { publishing, reading }: { readonly publishing: string; readonly reading: string },
) {
  const { protocol, host } = new URL(server);
  const apprise = `${protocol === 'https:' ? 'ntfys' : 'ntfy'}://${publishing === '' ? '' : `${publishing}@`}${host}/${topic}`;
  const url = `${server}/${topic}`;
  const headers = publishing === '' ? '' : `, headers={"Authorization": "Bearer ${publishing}"}`;
  const fetchHeaders = publishing === '' ? '' : `, headers: { Authorization: "Bearer ${publishing}" }`;
  return [
    ['ntfy command line', `ntfy subscribe ${reading === '' ? '' : `--token ${reading} `}${url}`],
    ['Python', `import requests; requests.post("${url}", data="Hello"${headers})`],
    ['Node.js', `await fetch("${url}", { method: "POST", body: "Hello"${fetchHeaders} })`],
    ['Apprise', apprise],
  ] as const;
}
