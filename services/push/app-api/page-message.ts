import type { PushAction, PushFile, PushMessage } from '../../contracts/push/api.ts';
import type { Action, Attachment, Message } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';

/** Characters of a topic's newest message. */
const lineLength = 120;

/** A message as our own page has it. */
export function toPage(entry: Message, seq: number, cleared = false): PushMessage {
  const { id, topic, title, message, priority, tags, click, icon, content_type, time, actions, attachment } = entry;
  return {
    ...{ id, seq, sequence: entry.sequence_id ?? id, cleared, topic },
    ...{ title: title ?? '', message: message ?? '', markdown: content_type === 'text/markdown' },
    ...{ priority: priority ?? defaultPriority, tags: [...(tags ?? [])], click: click ?? null, icon: icon ?? null },
    actions: (actions ?? []).map(buttonOf),
    attachment: attachment === undefined ? null : fileOf(attachment),
    time: time * 1000,
  };
}

/** The message on one line: its title, or the beginning of its text. */
export function lineOf(text: string | undefined): string {
  if (text === undefined) return '';
  const { title, message = '', content_type } = JSON.parse(text) as Message;
  if (title !== undefined) return title.slice(0, lineLength);
  // Marks of Markdown say nothing on one line.
  return (content_type === 'text/markdown' ? message.replaceAll(/[*_`#]+/g, '') : message).slice(0, lineLength);
}

function buttonOf({ action, label, url, method, value }: Action): PushAction {
  const kind = action === 'http' || action === 'broadcast' || action === 'copy' ? action : 'view';
  return { kind, label, url: url ?? null, method: method ?? (kind === 'http' ? 'POST' : ''), value: value ?? '' };
}

function fileOf({ name, url, type, size, expires }: Attachment): PushFile {
  const kept = size !== undefined && expires !== undefined;
  return {
    ...{ name, url, kept, type: type ?? null, size: size ?? null },
    expires: expires === undefined ? null : expires * 1000,
  };
}
