import type { PushAction, PushFile, PushMessage } from '../../contracts/push/api.ts';
import type { Action, Attachment, Message } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';

/** Maximum length of the preview of a topic's newest message. */
const maxPreviewLength = 120;

/** Converts a message to the form of the pages. */
export function toPageMessage(source: Message, seq: number, cleared = false): PushMessage {
  const { id, topic, title, message, priority, tags, click, icon, content_type, time, actions, attachment } = source;
  return {
    id,
    seq,
    sequence: source.sequence_id ?? id,
    cleared,
    topic,
    title: title ?? '',
    message: message ?? '',
    markdown: content_type === 'text/markdown',
    priority: priority ?? defaultPriority,
    tags: [...(tags ?? [])],
    click: click ?? null,
    icon: icon ?? null,
    actions: (actions ?? []).map(toAction),
    attachment: attachment === undefined ? null : toFile(attachment),
    time: time * 1000,
  };
}

/** Returns a one-line preview of a message: its title, or the beginning of its text. */
export function formatPreview(text: string | undefined): string {
  if (text === undefined) return '';
  const { title, message = '', content_type } = JSON.parse(text) as Message;
  if (title !== undefined) return title.slice(0, maxPreviewLength);
  // Removes Markdown marks, which have no meaning in a preview.
  return (content_type === 'text/markdown' ? message.replaceAll(/[*_`#]+/g, '') : message).slice(0, maxPreviewLength);
}

function toAction({ action, label, url, method, value }: Action): PushAction {
  const kind = action === 'http' || action === 'broadcast' || action === 'copy' ? action : 'view';
  return { kind, label, url: url ?? null, method: method ?? (kind === 'http' ? 'POST' : ''), value: value ?? '' };
}

function toFile({ name, url, type, size, expires }: Attachment): PushFile {
  const stored = size !== undefined && expires !== undefined;
  return {
    name,
    url,
    kept: stored,
    type: type ?? null,
    size: size ?? null,
    expires: expires === undefined ? null : expires * 1000,
  };
}
