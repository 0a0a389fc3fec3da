import { linesOfSlack } from './chat-markup.ts';
import type { Part } from './payload.ts';
import { joined, linkLine, type Piece, type Reading } from './adapter.ts';

type Lines = Reading['lines'];

/** Lists within lists of a rich text are read so deep. */
const deepest = 6;

/** A text object of Slack: its marks count unless it says that it has none. */
function linesOfText(text: Part): Lines {
  const words = text.whole('text').slice(0, 4000);
  if (text.text('type') !== 'plain_text') return linesOfSlack(words);
  return words.trim() === '' ? [] : words.split('\n').map((line) => [line]);
}

/** A row of small texts and pictures; the words of a picture are its name. */
function lineOfContext(block: Part): Lines {
  const rows = block.list('elements').map((each) => linesOfText(each).flat());
  const line = rows
    .filter((row) => row.length > 0)
    .flatMap((row, at): readonly Piece[] => (at === 0 ? row : [' · ', ...row]));
  return line.length === 0 ? [] : [line];
}

function linesOfButtons(buttons: readonly Part[]): Lines {
  return buttons.flatMap((each) => linkLine(each.text('text.text') || 'Open', each.link('url')));
}

/** The stretches of a line of rich text. */
function piecesOf(element: Part): readonly Piece[] {
  const text = element.whole('text').slice(0, 4000);
  const link = element.link('url');
  switch (element.text('type')) {
    case 'link':
      return link === undefined ? [text] : [{ words: text === '' ? link : text, link, inText: true }];
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

/** Sections, quotes and lists of a rich text. */
function linesOfRichText(block: Part, depth = 0): Lines {
  if (depth > deepest) return [];
  return block.list('elements').flatMap((each): Lines => {
    if (each.text('type') === 'rich_text_list') {
      return each.list('elements').map((item) => ['- ', ...item.list('elements').flatMap(piecesOf)]);
    }
    if (each.text('type') === 'rich_text') return linesOfRichText(each, depth + 1);
    return splitLines(each.list('elements').flatMap(piecesOf));
  });
}

/** Line breaks stand within the texts. */
function splitLines(pieces: readonly Piece[]): Lines {
  const lines: Piece[][] = [[]];
  for (const piece of pieces) {
    if (typeof piece !== 'string') {
      lines.at(-1)?.push(piece);
      continue;
    }
    for (const [at, text] of piece.split('\n').entries()) {
      if (at > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push(text);
    }
  }
  return lines.filter((line) => line.length > 0);
}

/** What the blocks of a message for Slack say (https://docs.slack.dev/reference/block-kit/blocks), their headings among the lines. */
export function linesOfBlocks(blocks: readonly Part[]): Lines {
  return blocks.flatMap((block): Lines => {
    switch (block.text('type')) {
      case 'header':
        return [[{ strong: block.text('text.text') }]];
      case 'section':
        return [
          ...linesOfText(block.part('text')),
          ...block
            .list('fields')
            .map((field) => linesOfText(field).flatMap((line, at) => (at === 0 ? line : [' ', ...line]))),
          ...linesOfButtons([block.part('accessory')]),
        ];
      case 'context':
        return lineOfContext(block);
      case 'actions':
        return linesOfButtons(block.list('elements'));
      case 'rich_text':
        return linesOfRichText(block);
      case 'markdown':
        return linesOfSlack(block.whole('text').slice(0, 12_000));
      case 'image':
      case 'video': {
        const words = joined(' ', block.text('title.text') || block.text('alt_text'));
        const link = block.link('title_url') ?? block.link('image_url');
        return link === undefined ? [[words]] : [[{ words: words || link, link }]];
      }
      default:
        return [];
    }
  });
}
