import type { TextFormat } from '../../contracts/notify/notification.ts';
import type { Message } from './message.ts';
import { convertText, type OutputFormat } from './text/convert.ts';
import { fits, measureLength, splitText, truncate, type LengthUnit } from './text/split.ts';

/** Handling of a body that is too long: unchanged, truncated with a mark, or split into several messages. */
export type Overflow = 'upstream' | 'truncate' | 'split';

/** Limits and format of a destination's messages. */
export interface MessageShape {
  /** Undefined: accepts every format. */
  readonly format: OutputFormat | undefined;
  /**
   * Maximum length in code points. 0: titles are not supported and are put before the body, as are longer ones.
   * Undefined: no limit.
   */
  readonly titleLimit: number | undefined;
  /** Maximum length of one message. Undefined: no limit. */
  readonly bodyLimit: number | undefined;
  /** Unit of the body limit; default: code points. */
  readonly unit?: LengthUnit | undefined;
  /** The title counts towards the body limit. */
  readonly titleCounts?: boolean | undefined;
  readonly overflow: Overflow;
  /** Formats a title before the body; default: a separate line. */
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
  // A title is text, independent of the format of the body.
  return (title) => `${convertText(title, 'text', outputFormat)}${outputFormat === 'html' ? '<br/>' : '\r\n'}`;
}

/** Formats a title as a Markdown heading, or as a separate line if the body is Markdown. */
export function markdownHeading(title: string, from: TextFormat): string {
  return from === 'markdown' ? `${title}\r\n` : `# ${title}\n`;
}

/**
 * Fits a message to a destination, as one message or several. A split body loses its formatting in formats where a
 * piece could contain unclosed markup. Attachments are sent with the last piece.
 */
export function fitMessage(original: Message, shape: MessageShape): readonly Message[] {
  // Several services reject a title with line breaks.
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
  // The limit applies to the visible text, without tags and escapes.
  const readableText = convertText(message.body, message.format, outputFormat === 'markdown' ? 'markdown' : 'text');
  const counts = message.title !== '' && (titleInBody || shape.titleCounts === true);
  const countedHeading = counts ? message.title + (readableText === '' ? '' : '\r\n') : '';
  const remainingLength = (bodyLimit ?? 0) - measureLength(countedHeading, unit);
  if (bodyLimit === undefined || overflow === 'upstream' || fits(readableText, remainingLength, unit)) {
    return [{ ...message, format, title, body: completeBody }];
  }
  const toOutput = (piece: string): string =>
    outputFormat === 'markdown' ? piece : convertText(piece, 'text', outputFormat);
  // A title that leaves little room for the body becomes part of the text.
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
    // Destinations that ignore repetitions need a different ID for each piece.
    id: index === 0 ? message.id : `${message.id}-${index + 1}`,
    format,
    title: index === 0 ? title : '',
    body: index === 0 ? `${bodyPrefix}${toOutput(piece)}` : toOutput(piece),
    attachments: index === pieces.length - 1 ? (message.attachments ?? []) : [],
  }));
}
