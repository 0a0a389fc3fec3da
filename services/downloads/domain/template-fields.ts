import type { PlaylistEntry } from './order.ts';
import { isBlankName } from './safe-names.ts';

/** Template fields that yt-dlp does not provide for an entry that is downloaded separately, by name. */
export type ListFields = Readonly<Record<string, string>>;

/** Prefix of the fields, which prevents conflicts with yt-dlp's own. */
const prefix = 'homeport_';

/** Numbers that `%(name)s` formats with leading zeros, as many digits as the length of the list has. */
const paddedFields: ReadonlySet<string> = new Set(['playlist_index', 'playlist_autonumber', 'channel_index']);
const numberFields: ReadonlySet<string> = new Set([...paddedFields, 'n_entries', 'playlist_count', 'channel_count']);

/** Pattern of `%(fields>date,alternatives&replacement|default)format` in yt-dlp's syntax. */
const placeholderPattern = /(?<!%)((?:%%)*)%\(([^)]*)\)([#0\-+ ]*\d*(?:\.\d+)?[hlL]?[A-Za-z])/g;
/** Pattern of a field name. Names in braces, as in `%(.{id,title})j`, are not fields. */
const fieldNamePattern = /\{[^}]*\}|(?<![\w.])[A-Za-z_]\w*/g;

/** Returns the fields of a list and of an entry's position in it. */
export function getListFields({ id, title, index, count, entryTitle, channel }: PlaylistEntry): ListFields {
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
  return Object.fromEntries(Object.entries(fields).map(([key, text]) => [key, toSafeName(text)]));
}

/** Sanitizes a part of a path, which must not be `..` or contain bidirectional control characters. */
function toSafeName(text: string): string {
  const withoutControls = text.replaceAll(/\p{Bidi_Control}/gu, '');
  return isBlankName(withoutControls) ? '_' : withoutControls;
}

/**
 * Renames fields in a template to those of {@link buildFieldArguments}. yt-dlp then resolves all formats, conversions,
 * alternatives, arithmetic and defaults.
 */
export function useFields(template: string, fields: ListFields): string {
  return template.replaceAll(placeholderPattern, (_, percents: string, key: string, format: string) => {
    const [head = '', tail = ''] = splitKey(key);
    const renamed =
      head.replaceAll(/(?:\{[^}]*\}|[^,>{])+(?:>(?:\\,|[^,])*)?/g, (part) => renameIn(part, fields)) + tail;
    const number = /^(\w+)(?=$|[,|])/.exec(key)?.[1] ?? '';
    const isNumber = numberFields.has(number) && Object.hasOwn(fields, number);
    if (isNumber && format === 'j') return `${percents}%(${renamed})d`;
    const digits = String(fields['n_entries'] ?? '').length;
    if (isNumber && paddedFields.has(number) && format === 's') return `${percents}%(${renamed})0${String(digits)}d`;
    return `${percents}%(${renamed})${format}`;
  });
}

/** Returns the arguments that make the fields known to yt-dlp. */
export function buildFieldArguments(fields: ListFields): readonly string[] {
  return Object.entries(fields).flatMap(([name, text]) => {
    const literal = text
      .replaceAll(/\p{Cc}/gu, ' ')
      .replaceAll('%', '%%')
      .replaceAll(':', '\\:');
    // The delimiters prevent that a single word is read as a field name, and that a trailing backslash escapes the
    // colon.
    return ['--parse-metadata', `=${literal}=:(?s)^=(?P<${prefix}${name}>.*)=$`];
  });
}

/** Splits a key into the field names, and the replacement and default. */
function splitKey(key: string): readonly [string, string] {
  const end = key.search(/[&|]/);
  return end < 0 ? [key, ''] : [key.slice(0, end), key.slice(end)];
}

function renameIn(part: string, fields: ListFields): string {
  const end = part.indexOf('>');
  const [names, format] = end < 0 ? [part, ''] : [part.slice(0, end), part.slice(end)];
  return (
    names.replaceAll(fieldNamePattern, (name) => (Object.hasOwn(fields, name) ? `${prefix}${name}` : name)) + format
  );
}
