import type { TextFormat } from '../../contracts/notify/notification.ts';
import type { Message } from './message.ts';
import { convertText, type OutputFormat } from './text/convert.ts';
import { fits, measureLength, splitText, truncate, type LengthUnit } from './text/split.ts';

/** What becomes of a body that is too long: sent as it is, cut with a mark, or sent as several messages. */
export type Overflow = 'upstream' | 'truncate' | 'split';

/** What a destination can show. */
export interface MessageShape {
  /** Undefined: takes any format and is told which. */
  readonly format: OutputFormat | undefined;
  /** Code points. 0: has no title, so it goes before the body, as a longer one does. Undefined: no limit. */
  readonly titleLimit: number | undefined;
  /** Of one message. Undefined: no limit. */
  readonly bodyLimit: number | undefined;
  /** What the limit of a body counts; default characters, which are code points. */
  readonly unit?: LengthUnit | undefined;
  /** A title takes its room from the body although it has a place of its own. */
  readonly titleCounts?: boolean | undefined;
  readonly overflow: Overflow;
  /** How a title is written before the body; default a line of its own. */
  readonly heading?: (title: string, from: TextFormat) => string;
}

const formatByOutput: Readonly<Record<OutputFormat, TextFormat>> = {
  text: 'text',
  markdown: 'markdown',
  html: 'html',
  slack: 'markdown',
  googleChat: 'markdown',
  telegram: 'html',
};

function buildHeading(outputFormat: OutputFormat): (title: string) => string {
  // A title is words, whatever the body is written in.
  return (title) => `${convertText(title, 'text', outputFormat)}${outputFormat === 'html' ? '<br/>' : '\r\n'}`;
}

/** A title as a heading of Markdown, but a line of its own before text that has marks of its writer's. */
export function markdownHeading(title: string, from: TextFormat): string {
  return from === 'markdown' ? `${title}\r\n` : `# ${title}\n`;
}

/**
 * Fits a message to what a destination can show, as one message or several. A body that has to be split loses its marks in
 * formats where a piece would have unclosed ones. Attachments go with the last.
 */
export function fitMessage(original: Message, shape: MessageShape): readonly Message[] {
  // Several services refuse a title with line breaks: as a subject, a topic, a header.
  const message = /[\r\n]/.test(original.title)
    ? { ...original, title: original.title.replace(/[\r\n]+/g, ' ') }
    : original;
  const { titleLimit, bodyLimit, overflow, unit } = shape;
  const outputFormat = shape.format ?? message.format;
  const tooLong = titleLimit === 0 || (overflow !== 'upstream' && !fits(message.title, titleLimit));
  const titleInBody = message.title !== '' && tooLong;
  const heading = shape.heading ?? buildHeading(outputFormat);
  const converted = convertText(message.body, message.format, outputFormat);
  const prefix = titleInBody ? heading(message.title, message.format) : '';
  const title = titleInBody ? '' : message.title;
  const format = formatByOutput[outputFormat];
  const completeBody =
    prefix === '' || converted !== '' ? `${prefix}${converted}` : prefix.replace(/(\r?\n|<br\/>)+$/, '');
  // What is measured is what is read: tags and escapes count for nothing there.
  const readableText = convertText(message.body, message.format, outputFormat === 'markdown' ? 'markdown' : 'text');
  const counts = message.title !== '' && (titleInBody || shape.titleCounts === true);
  const countedHeading = counts ? message.title + (readableText === '' ? '' : '\r\n') : '';
  const remainingLength = (bodyLimit ?? 0) - measureLength(countedHeading, unit);
  if (bodyLimit === undefined || overflow === 'upstream' || fits(readableText, remainingLength, unit)) {
    return [{ ...message, format, title, body: completeBody }];
  }
  const toOutput = (piece: string): string =>
    outputFormat === 'markdown' ? piece : convertText(piece, 'text', outputFormat);
  // A title that leaves hardly any room for the body is the beginning of the text.
  const startsWithTitle = titleInBody && remainingLength < bodyLimit / 4;
  const text = startsWithTitle ? `${message.title}\r\n${readableText}` : readableText;
  const firstLimit = startsWithTitle ? bodyLimit : remainingLength;
  const bodyPrefix = startsWithTitle ? '' : prefix;
  if (overflow === 'truncate') {
    return [{ ...message, format, title, body: `${bodyPrefix}${toOutput(truncate(text, firstLimit, unit))}` }];
  }
  const pieces = splitText(text, bodyLimit, firstLimit, unit);
  return pieces.map((piece, index) => ({
    ...message,
    // Each piece is one of its own to a destination that passes over repetitions.
    id: index === 0 ? message.id : `${message.id}-${index + 1}`,
    format,
    title: index === 0 ? title : '',
    body: index === 0 ? `${bodyPrefix}${toOutput(piece)}` : toOutput(piece),
    attachments: index === pieces.length - 1 ? (message.attachments ?? []) : [],
  }));
}
