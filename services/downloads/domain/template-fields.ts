import type { PlaylistPlace } from './order.ts';
import { isBlankName } from './safe-names.ts';

/** Fields of a template that yt-dlp does not know of an entry that is downloaded by itself, by their own names. */
export type ListFields = Readonly<Record<string, string>>;

/** Under these names yt-dlp gets them, so that they do not meet what it finds out itself. */
const prefix = 'homeport_';

/** Numbers that `%(name)s` shows with leading zeros, as many digits as the length of the list has. */
const padded: ReadonlySet<string> = new Set(['playlist_index', 'playlist_autonumber', 'channel_index']);
const numbers: ReadonlySet<string> = new Set([...padded, 'n_entries', 'playlist_count', 'channel_count']);

/** `%(fields>date,alternatives&replacement|default)format`, as yt-dlp has it. */
const outer = /(?<!%)((?:%%)*)%\(([^)]*)\)([#0\-+ ]*\d*(?:\.\d+)?[hlL]?[A-Za-z])/g;
/** A field name; what is picked from one in braces, as `%(.{id,title})j`, is none. */
const identifier = /\{[^}]*\}|(?<![\w.])[A-Za-z_]\w*/g;

/** Returns the fields of a list and of an entry's place in it. */
export function listFields({ id, title, index, count, entryTitle, channel }: PlaylistPlace): ListFields {
  const name = title === '' ? `playlist ${id}` : title;
  const fields = {
    ...{ playlist: name, playlist_title: name, playlist_id: id },
    ...{ playlist_index: String(index), playlist_autonumber: String(index) },
    ...{ n_entries: String(count), playlist_count: String(count) },
    ...(entryTitle === null ? {} : { title: entryTitle }),
    ...(channel === undefined
      ? {}
      : {
          ...{ channel: channel.name, channel_id: channel.id },
          ...{ channel_index: String(index), channel_count: String(count) },
        }),
  };
  return Object.fromEntries(Object.entries(fields).map(([key, text]) => [key, toPlainName(text)]));
}

/** A part of a path must neither come out as `..` nor read backwards. */
function toPlainName(text: string): string {
  const plain = text.replaceAll(/\p{Bidi_Control}/gu, '');
  return isBlankName(plain) ? '_' : plain;
}

/**
 * Lets a template use these fields, which yt-dlp gets by {@link fieldArguments}: its own engine then resolves all formats,
 * conversions, alternatives, arithmetic and defaults.
 */
export function useFields(template: string, fields: ListFields): string {
  return template.replaceAll(outer, (_, percents: string, key: string, format: string) => {
    const [head = '', tail = ''] = splitKey(key);
    const renamed =
      head.replaceAll(/(?:\{[^}]*\}|[^,>{])+(?:>(?:\\,|[^,])*)?/g, (part) => renameIn(part, fields)) + tail;
    const number = /^(\w+)(?=$|[,|])/.exec(key)?.[1] ?? '';
    const isNumber = numbers.has(number) && Object.hasOwn(fields, number);
    if (isNumber && format === 'j') return `${percents}%(${renamed})d`;
    const digits = String(fields['n_entries'] ?? '').length;
    if (isNumber && padded.has(number) && format === 's') return `${percents}%(${renamed})0${String(digits)}d`;
    return `${percents}%(${renamed})${format}`;
  });
}

/** Returns the arguments that make the fields known to yt-dlp. */
export function fieldArguments(fields: ListFields): readonly string[] {
  return Object.entries(fields).flatMap(([name, text]) => {
    const literal = text
      .replaceAll(/\p{Cc}/gu, ' ')
      .replaceAll('%', '%%')
      .replaceAll(':', '\\:');
    // The marks keep a text that is a word from being taken for a field, and a backslash at its end from its colon.
    return ['--parse-metadata', `=${literal}=:(?s)^=(?P<${prefix}${name}>.*)=$`];
  });
}

/** What names fields, and what is replacement and default. */
function splitKey(key: string): readonly [string, string] {
  const end = key.search(/[&|]/);
  return end < 0 ? [key, ''] : [key.slice(0, end), key.slice(end)];
}

function renameIn(part: string, fields: ListFields): string {
  const end = part.indexOf('>');
  const [names, format] = end < 0 ? [part, ''] : [part.slice(0, end), part.slice(end)];
  return names.replaceAll(identifier, (name) => (Object.hasOwn(fields, name) ? `${prefix}${name}` : name)) + format;
}
