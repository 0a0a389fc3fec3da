import type { TextFormat } from '../../contracts/notify/notification.ts';
import type { Message } from './message.ts';
import { convertText, type Shown } from './text/convert.ts';
import { fits, lengthOf, splitText, truncate, type Unit } from './text/split.ts';

/** What becomes of a body that is too long: sent as it is, cut with a mark, or sent as several messages. */
export type Overflow = 'upstream' | 'truncate' | 'split';

/** What a destination can show. */
export interface Shape {
  /** Undefined: takes any format and is told which. */
  readonly format: Shown | undefined;
  /** Code points. 0: has no title, so it goes before the body, as a longer one does. Undefined: no limit. */
  readonly titleLimit: number | undefined;
  /** Of one message. Undefined: no limit. */
  readonly bodyLimit: number | undefined;
  /** What the limit of a body counts; default characters, which are code points. */
  readonly unit?: Unit | undefined;
  /** A title takes its room from the body although it has a place of its own. */
  readonly titleCounts?: boolean | undefined;
  readonly overflow: Overflow;
  /** How a title is written before the body; default a line of its own. */
  readonly heading?: (title: string, from: TextFormat) => string;
}

const formatOf: Readonly<Record<Shown, TextFormat>> = {
  text: 'text',
  markdown: 'markdown',
  html: 'html',
  slack: 'markdown',
  googleChat: 'markdown',
  telegram: 'html',
};

function plainHeading(shown: Shown): (title: string) => string {
  // A title is words, whatever the body is written in.
  return (title) => `${convertText(title, 'text', shown)}${shown === 'html' ? '<br/>' : '\r\n'}`;
}

/** A title as a heading of Markdown, but a line of its own before text that has marks of its writer's. */
export function markdownHeading(title: string, from: TextFormat): string {
  return from === 'markdown' ? `${title}\r\n` : `# ${title}\n`;
}

/**
 * Fits a message to what a destination can show, as one message or several. A body that has to be split loses its marks in
 * formats where a piece would have unclosed ones. Attachments go with the last.
 */
export function fitMessage(given: Message, shape: Shape): readonly Message[] {
  // Several services refuse a title with line breaks: as a subject, a topic, a header.
  const message = /[\r\n]/.test(given.title) ? { ...given, title: given.title.replace(/[\r\n]+/g, ' ') } : given;
  const { titleLimit, bodyLimit, overflow, unit } = shape;
  const shown = shape.format ?? message.format;
  const tooLong = titleLimit === 0 || (overflow !== 'upstream' && !fits(message.title, titleLimit));
  const folded = message.title !== '' && tooLong;
  const heading = shape.heading ?? plainHeading(shown);
  const converted = convertText(message.body, message.format, shown);
  const prefix = folded ? heading(message.title, message.format) : '';
  const title = folded ? '' : message.title;
  const format = formatOf[shown];
  const whole = prefix === '' || converted !== '' ? `${prefix}${converted}` : prefix.replace(/(\r?\n|<br\/>)+$/, '');
  // What is measured is what is read: tags and escapes count for nothing there.
  const plain = convertText(message.body, message.format, shown === 'markdown' ? 'markdown' : 'text');
  const counts = message.title !== '' && (folded || shape.titleCounts === true);
  const heads = counts ? message.title + (plain === '' ? '' : '\r\n') : '';
  const room = (bodyLimit ?? 0) - lengthOf(heads, unit);
  if (bodyLimit === undefined || overflow === 'upstream' || fits(plain, room, unit)) {
    return [{ ...message, format, title, body: whole }];
  }
  const again = (piece: string): string => (shown === 'markdown' ? piece : convertText(piece, 'text', shown));
  // A title that leaves hardly any room for the body is the beginning of the text.
  const crowded = folded && room < bodyLimit / 4;
  const text = crowded ? `${message.title}\r\n${plain}` : plain;
  const first = crowded ? bodyLimit : room;
  const head = crowded ? '' : prefix;
  if (overflow === 'truncate') {
    return [{ ...message, format, title, body: `${head}${again(truncate(text, first, unit))}` }];
  }
  const pieces = splitText(text, bodyLimit, first, unit);
  return pieces.map((piece, at) => ({
    ...message,
    // Each piece is one of its own to a destination that passes over repetitions.
    id: at === 0 ? message.id : `${message.id}-${at + 1}`,
    format,
    title: at === 0 ? title : '',
    body: at === 0 ? `${head}${again(piece)}` : again(piece),
    attachments: at === pieces.length - 1 ? (message.attachments ?? []) : [],
  }));
}
