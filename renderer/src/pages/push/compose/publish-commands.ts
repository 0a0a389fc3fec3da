import * as m from '#messages/push-compose';
import type { WrittenAction } from '../../../../../services/contracts/push/api.ts';
import { quoteForShell } from '../../../../../services/contracts/shell-quote.ts';

export interface DraftMessage {
  readonly topic: string;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly click: string;
  readonly markdown: boolean;
  readonly delay: string;
  /** Address of a remote file. */
  readonly attach: string;
  /** Name of a local file; empty without one. */
  readonly file: string;
  /** Name of the file for subscribers. */
  readonly filename: string;
  readonly actions: readonly WrittenAction[];
}

/**
 * Returns the curl command that publishes the same message. The token stays a variable, so that the copied text
 * contains no secret.
 */
export function buildCurlCommand(server: string, { topic, message, file, ...fields }: DraftMessage): string {
  const headers = [
    ['Title', fields.title],
    ['Priority', fields.priority === 3 ? '' : String(fields.priority)],
    ['Tags', fields.tags.join(',')],
    ['Click', fields.click],
    ['Markdown', fields.markdown ? 'yes' : ''],
    ['Delay', fields.delay],
    ['Attach', file === '' ? fields.attach : ''],
    ['Filename', fields.filename || file],
    ['Actions', fields.actions.length === 0 ? '' : JSON.stringify(fields.actions.map(toNtfyAction))],
    // With a file, the message is a header, which cannot contain line breaks.
    ['Message', file === '' ? '' : message.replaceAll('\n', String.raw`\n`)],
  ].filter(([, value]) => value !== '');
  return [
    'curl -H "Authorization: Bearer $TOKEN"',
    ...headers.map(([name, value]) => `-H ${quoteForShell(`${name ?? ''}: ${value ?? ''}`)}`),
    // Unlike -d, this keeps line breaks and does not treat a leading @ as a file name.
    file === '' ? `--data-raw ${quoteForShell(message)}` : `-T ${quoteForShell(file)}`,
    quoteForShell(`${server}/${topic}`),
  ].join(' ');
}

/** Formats a button as ntfy's clients do. */
function toNtfyAction({ kind, label, url, method, body, clear }: WrittenAction) {
  const request = kind === 'http' ? { method, ...(body === '' || method === 'GET' ? {} : { body }) } : {};
  return { action: kind, label, url, ...request, ...(clear ? { clear } : {}) };
}

/** Returns commands for common clients. The tokens are empty where none is needed. */
export function buildClientCommands(
  server: string,
  topic: string,
  { publishing: publishToken, reading: readToken }: { readonly publishing: string; readonly reading: string },
) {
  const { protocol, host } = new URL(server);
  const apprise = `${protocol === 'https:' ? 'ntfys' : 'ntfy'}://${publishToken === '' ? '' : `${publishToken}@`}${host}/${topic}`;
  const url = `${server}/${topic}`;
  const headers = publishToken === '' ? '' : `, headers={"Authorization": "Bearer ${publishToken}"}`;
  const fetchHeaders = publishToken === '' ? '' : `, headers: { Authorization: "Bearer ${publishToken}" }`;
  return [
    [m.ntfyCommandLine(), `ntfy subscribe ${readToken === '' ? '' : `--token ${readToken} `}${url}`],
    ['Python', `import requests; requests.post("${url}", data="Hello"${headers})`],
    ['Node.js', `await fetch("${url}", { method: "POST", body: "Hello"${fetchHeaders} })`],
    ['Apprise', apprise],
  ] as const;
}
