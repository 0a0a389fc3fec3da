import { createHash } from 'node:crypto';
import { escapeHtml, escapeMarkup } from '../../kit/escape-html.ts';

/** Types of webhooks that send a message for people in the format of a chat service. */
export const chatTypes = ['slack', 'discord', 'msteams', 'telegram', 'matrix'] as const;
export type ChatType = (typeof chatTypes)[number];

export function isChatType(type: string): type is ChatType {
  return (chatTypes as readonly string[]).includes(type);
}

/** Options of a chat webhook in addition to its address. */
export interface ChatOptions {
  readonly channel?: string | undefined;
  readonly username?: string | undefined;
  readonly icon_url?: string | undefined;
}

/** Payload fields that messages are built from; see `hooks/events.ts` for the payloads. */
interface Payload {
  readonly ref?: string;
  readonly ref_type?: string;
  readonly compare_url?: string;
  readonly action?: string;
  readonly number?: number;
  readonly commits?: readonly { readonly id: string; readonly message: string; readonly url: string }[];
  readonly total_commits?: number;
  readonly repository?: { readonly full_name?: string; readonly html_url?: string };
  readonly sender?: { readonly login?: string };
  readonly issue?: Subject;
  readonly pull_request?: Subject;
  readonly comment?: { readonly html_url?: string; readonly body?: string };
  readonly release?: { readonly tag_name?: string; readonly name?: string; readonly html_url?: string };
}

interface Subject {
  readonly number?: number;
  readonly title?: string;
  readonly html_url?: string;
}

interface Message {
  readonly title: string;
  readonly url: string;
  readonly lines: readonly { readonly text: string; readonly url: string; readonly label: string }[];
}

const maxCommits = 10;
const maxTextLength = 300;

/** Builds the request of a chat service for an event. */
export function buildChatRequest(
  type: ChatType,
  address: string,
  options: ChatOptions,
  delivery: { readonly id: string; readonly event: string; readonly body: string },
): { readonly method: 'POST' | 'PUT'; readonly url: string; readonly body: string } {
  const message = toMessage(delivery.event, JSON.parse(delivery.body) as Payload);
  if (type !== 'matrix')
    return { method: 'POST', url: address, body: JSON.stringify(formatBody(type, message, options)) };
  const transaction = createHash('sha256').update(delivery.id).digest('hex').slice(0, 32);
  const body = JSON.stringify(formatBody(type, message, options));
  return { method: 'PUT', url: `${address.replace(/\/+$/, '')}/${transaction}`, body };
}

function toMessage(event: string, payload: Payload): Message {
  const { repository = {}, sender = {} } = payload;
  const repositoryName = repository.full_name ?? '';
  const repositoryUrl = repository.html_url ?? '';
  const senderName = sender.login ?? '';
  const ref = (payload.ref ?? '').replace(/^refs\/(heads|tags)\//, '');
  const subject = payload.pull_request ?? payload.issue;
  if (event === 'push') {
    const commits = payload.commits ?? [];
    const count = payload.total_commits ?? commits.length;
    return {
      title: `[${repositoryName}:${ref}] ${count} new commit${count === 1 ? '' : 's'} pushed by ${senderName}`,
      url: payload.compare_url ?? repositoryUrl,
      lines: commits.slice(0, maxCommits).map(({ id, message, url }) => ({
        label: id.slice(0, 10),
        url,
        text: truncate(message.split('\n', 1)[0] ?? ''),
      })),
    };
  }
  if (event === 'create' || event === 'delete') {
    const action = event === 'create' ? 'created' : 'deleted';
    return {
      title: `[${repositoryName}] ${payload.ref_type ?? 'branch'} ${ref} ${action} by ${senderName}`,
      url: repositoryUrl,
      lines: [],
    };
  }
  if (payload.release !== undefined) {
    const { html_url = repositoryUrl, name = '', tag_name = '' } = payload.release;
    const title = `[${repositoryName}] Release ${name === '' ? tag_name : name} ${payload.action ?? ''} by ${senderName}`;
    return { title, url: html_url, lines: [] };
  }
  if (subject !== undefined) {
    const kind = payload.pull_request === undefined ? 'Issue' : 'Pull request';
    const { html_url = repositoryUrl, number = 0, title = '' } = subject;
    const action = payload.comment === undefined ? (payload.action ?? '') : 'commented';
    const comment = payload.comment?.body ?? '';
    return {
      title: `[${repositoryName}] ${kind} #${number} ${truncate(title)} ${action} by ${senderName}`,
      url: payload.comment?.html_url ?? html_url,
      lines: comment === '' ? [] : [{ label: '', url: '', text: truncate(comment) }],
    };
  }
  return { title: `[${repositoryName}] ${event} by ${senderName}`, url: repositoryUrl, lines: [] };
}

function formatBody(type: ChatType, { title, url, lines }: Message, options: ChatOptions): object {
  const markdown = lines.map(({ label, text, url: to }) => (label === '' ? text : `[${label}](${to}) ${text}`));
  switch (type) {
    case 'slack': {
      const rows = lines.map(
        ({ label, text, url: to }) => `${label === '' ? '' : `<${to}|${label}> `}${escapeMarkup(text)}`,
      );
      return {
        channel: options.channel ?? '',
        username: options.username ?? '',
        icon_url: options.icon_url ?? '',
        text: `<${url}|${escapeMarkup(title)}>`,
        attachments: rows.length === 0 ? [] : [{ fallback: title, text: rows.join('\n') }],
      };
    }
    case 'discord':
      return {
        ...(options.username === undefined ? {} : { username: options.username }),
        ...(options.icon_url === undefined ? {} : { avatar_url: options.icon_url }),
        embeds: [{ title: title.slice(0, 256), url, description: markdown.join('\n').slice(0, 4000) }],
        // Names in commit messages must not notify members of the channel.
        allowed_mentions: { parse: [] },
      };
    case 'msteams':
      return {
        '@type': 'MessageCard',
        '@context': 'https://schema.org/extensions',
        summary: title,
        title,
        text: markdown.join('\n\n'),
        potentialAction: [{ '@type': 'OpenUri', name: 'View', targets: [{ os: 'default', uri: url }] }],
      };
    case 'telegram':
      return { text: formatHtml(title, url, lines, '\n'), parse_mode: 'HTML', disable_web_page_preview: true };
    case 'matrix':
      return {
        msgtype: 'm.notice',
        body: [title, ...lines.map(({ label, text }) => `${label} ${text}`.trim())].join('\n'),
        format: 'org.matrix.custom.html',
        formatted_body: formatHtml(title, url, lines, '<br>'),
      };
  }
}

function formatHtml(title: string, url: string, lines: Message['lines'], lineBreak: string): string {
  const link = (to: string, text: string): string => `<a href="${escapeHtml(to)}">${escapeHtml(text)}</a>`;
  const rows = lines.map(
    ({ label, text, url: to }) => `${label === '' ? '' : `${link(to, label)} `}${escapeHtml(text)}`,
  );
  return [link(url, title), ...rows].join(lineBreak);
}

function truncate(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text;
}
