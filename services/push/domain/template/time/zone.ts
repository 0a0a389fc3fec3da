import { findOwn } from '../../../../contracts/find-own.ts';

/** Time zone: its offset and abbreviation at a time. */
export interface Zone {
  readonly name: string;
  /** Returns the offset and abbreviation at unix seconds. */
  getInfo(seconds: number): { readonly offset: number; readonly abbreviation: string };
}

export const utc: Zone = { name: 'UTC', getInfo: () => ({ offset: 0, abbreviation: 'UTC' }) };

/** Creates a zone with a fixed offset; without abbreviation, the offset is its name. */
export function fixedZone(offset: number, abbreviation = ''): Zone {
  return { name: abbreviation, getInfo: () => ({ offset, abbreviation: abbreviation || formatOffset(offset, true) }) };
}

const zoneCache = new Map<string, Zone | undefined>();

/** Returns a zone of the IANA database; undefined for unknown names. `Local` resolves to `local`. */
export function findZone(name: string, local: string): Zone | undefined {
  if (name === '' || name === 'UTC') return utc;
  if (name === 'Local') return { ...(findZone(local, 'UTC') ?? utc), name: 'Local' };
  // JavaScript accepts offsets as zone names, Go does not.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  if (!zoneCache.has(name)) {
    if (zoneCache.size > 500) zoneCache.clear();
    zoneCache.set(name, createZone(name));
  }
  return zoneCache.get(name);
}

function createZone(name: string): Zone | undefined {
  try {
    const offsets = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
    return {
      name,
      getInfo: (seconds) => {
        const date = new Date(seconds * 1000);
        const offset = parseOffset(getZoneName(offsets, date));
        const newYear = new Date(Date.UTC(date.getUTCFullYear(), 0, 1));
        const standardOffset = parseOffset(getZoneName(offsets, newYear));
        return { offset, abbreviation: abbreviate(name, date, offset, standardOffset) };
      },
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function getZoneName(format: Intl.DateTimeFormat, date: Date): string {
  return format.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** Parses an offset such as `GMT+05:30` into seconds. */
function parseOffset(text: string): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /([+-])(\d\d):?(\d\d)?:?(\d\d)?/.exec(text) ?? [];
  const sum = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -sum : sum;
}

/** Locales whose zone abbreviations are tried; each locale only has those of its own region. */
const languages = ['en-US', 'en-GB', 'en-AU', 'en-NZ', 'en-ZA', 'en-IN', 'en-CA', 'en-GH', 'en-IL'];
/** Abbreviations of the IANA database that none of the locales returns: standard time and, if any, summer time. */
const abbreviations: Readonly<Record<string, readonly [string, string?]>> = {
  'America/Adak': ['HST', 'HDT'],
  'America/Dawson': ['MST'],
  'America/Havana': ['CST', 'CDT'],
  'America/Hermosillo': ['MST'],
  'America/Mazatlan': ['MST'],
  'America/Whitehorse': ['MST'],
  'Asia/Colombo': ['+0530'],
  'Asia/Dubai': ['+04'],
  'Asia/Hong_Kong': ['HKT'],
  'Asia/Jakarta': ['WIB'],
  'Asia/Jayapura': ['WIT'],
  'Asia/Jerusalem': ['IST', 'IDT'],
  'Asia/Karachi': ['PKT'],
  'Asia/Macau': ['CST'],
  'Asia/Makassar': ['WITA'],
  'Asia/Manila': ['PST'],
  'Asia/Muscat': ['+04'],
  'Asia/Pontianak': ['WIB'],
  'Asia/Pyongyang': ['KST'],
  'Asia/Seoul': ['KST'],
  'Asia/Shanghai': ['CST'],
  'Asia/Taipei': ['CST'],
  'Asia/Tokyo': ['JST'],
  'Europe/Dublin': ['GMT', 'IST'],
  'Europe/Guernsey': ['GMT', 'BST'],
  'Europe/Isle_of_Man': ['GMT', 'BST'],
  'Europe/Jersey': ['GMT', 'BST'],
  'Europe/Kirov': ['MSK'],
  'Europe/Moscow': ['MSK'],
  'Europe/Simferopol': ['MSK'],
  'Europe/Volgograd': ['MSK'],
  'Pacific/Guam': ['ChST'],
  'Pacific/Midway': ['SST'],
  'Pacific/Pago_Pago': ['SST'],
  'Pacific/Saipan': ['ChST'],
};

function abbreviate(name: string, date: Date, offset: number, standardOffset: number): string {
  const [standard, daylight] = findOwn(abbreviations, name) ?? [];
  if (standard !== undefined) return daylight !== undefined && offset > standardOffset ? daylight : standard;
  for (const language of languages) {
    const abbreviation = getZoneName(
      new Intl.DateTimeFormat(language, { timeZone: name, timeZoneName: 'short' }),
      date,
    );
    if (/^[A-Z]{2,5}$/.test(abbreviation)) return abbreviation;
  }
  return formatOffset(offset);
}

/** Formats an offset as `+03` or `+0530`, used by the IANA database for zones without abbreviation. */
function formatOffset(offset: number, isFull = false): string {
  const minutes = Math.floor(Math.abs(offset) / 60);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}${minutes % 60 === 0 && !isFull ? '' : pad(minutes % 60)}`;
}
