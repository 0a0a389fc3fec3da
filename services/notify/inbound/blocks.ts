import * as m from '#messages/notify-inbound';
import { parseSlackText } from './chat-markup.ts';
import type { Payload } from './payload.ts';
import { joinTexts, buildLinkLine, type TextPart, type InboundNotification } from './adapter.ts';

type Lines = InboundNotification['lines'];

/** Maximum depth of nested rich text. */
const maxDepth = 6;

/** Parses a text object of Slack, with its markup unless it is plain text. */
function parseText(text: Payload): Lines {
  const content = text.fullText('text').slice(0, 4000);
  if (text.text('type') !== 'plain_text') return parseSlackText(content);
  return content.trim() === '' ? [] : content.split('\n').map((line) => [line]);
}

/** Parses a row of small texts and pictures; pictures are represented by their names. */
function parseContext(block: Payload): Lines {
  const rows = block.list('elements').map((each) => parseText(each).flat());
  const line = rows
    .filter((row) => row.length > 0)
    .flatMap((row, index): readonly TextPart[] => (index === 0 ? row : [' · ', ...row]));
  return line.length === 0 ? [] : [line];
}

function parseButtons(buttons: readonly Payload[]): Lines {
  return buttons.flatMap((each) => buildLinkLine(each.text('text.text') || m.open(), each.link('url')));
}

/** Parses an element of rich text. */
function parseElement(element: Payload): readonly TextPart[] {
  const text = element.fullText('text').slice(0, 4000);
  const link = element.link('url');
  switch (element.text('type')) {
    case 'link':
      return link === undefined ? [text] : [{ label: text === '' ? link : text, link, inText: true }];
    case 'emoji':
      return [`:${element.text('name')}:`];
    case 'broadcast':
      return [`@${element.text('range')}`];
    case 'user':
      return [`@${element.text('user_id')}`];
    default:
      return element.isTrue('style.bold') && text !== '' ? [{ strong: text }] : [text];
  }
}

/** Parses sections, quotes and lists of rich text. */
function parseRichText(block: Payload, depth = 0): Lines {
  if (depth > maxDepth) return [];
  return block.list('elements').flatMap((each): Lines => {
    if (each.text('type') === 'rich_text_list') {
      return each.list('elements').map((item) => ['- ', ...item.list('elements').flatMap(parseElement)]);
    }
    if (each.text('type') === 'rich_text') return parseRichText(each, depth + 1);
    return splitLines(each.list('elements').flatMap(parseElement));
  });
}

/** Splits parts at line breaks in their text. */
function splitLines(pieces: readonly TextPart[]): Lines {
  const lines: TextPart[][] = [[]];
  for (const piece of pieces) {
    if (typeof piece !== 'string') {
      lines.at(-1)?.push(piece);
      continue;
    }
    for (const [index, text] of piece.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push(text);
    }
  }
  return lines.filter((line) => line.length > 0);
}

/**
 * Parses the blocks of a Slack message (https://docs.slack.dev/reference/block-kit/blocks), with headings as lines.
 */
export function parseBlocks(blocks: readonly Payload[]): Lines {
  return blocks.flatMap((block): Lines => {
    switch (block.text('type')) {
      case 'header':
        return [[{ strong: block.text('text.text') }]];
      case 'section':
        return [
          ...parseText(block.object('text')),
          ...block
            .list('fields')
            .map((field) => parseText(field).flatMap((line, index) => (index === 0 ? line : [' ', ...line]))),
          ...parseButtons([block.object('accessory')]),
        ];
      case 'context':
        return parseContext(block);
      case 'actions':
        return parseButtons(block.list('elements'));
      case 'rich_text':
        return parseRichText(block);
      case 'markdown':
        return parseSlackText(block.fullText('text').slice(0, 12_000));
      case 'image':
      case 'video': {
        const title = joinTexts(' ', block.text('title.text') || block.text('alt_text'));
        const link = block.link('title_url') ?? block.link('image_url');
        return link === undefined ? [[title]] : [[{ label: title || link, link }]];
      }
      default:
        return [];
    }
  });
}
