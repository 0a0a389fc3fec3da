import { findOwn } from '../../../../contracts/find-own.ts';

/** Where a clock hangs: what is added to UTC at a time, and how the zone is called then. */
export interface Zone {
  readonly name: string;
  /** For unix seconds. */
  at(seconds: number): { readonly offset: number; readonly abbreviation: string };
}

export const utc: Zone = { name: 'UTC', at: () => ({ offset: 0, abbreviation: 'UTC' }) };

/** A zone that a parsed time names itself; `abbreviation` may be missing, the offset stands in for it then. */
export function fixedZone(offset: number, abbreviation = ''): Zone {
  return { name: abbreviation, at: () => ({ offset, abbreviation: abbreviation || offsetName(offset, true) }) };
}

const zones = new Map<string, Zone | undefined>();

/** A zone by its name in the IANA list; undefined when there is none. `Local` is what `local` names. */
export function zoneNamed(name: string, local: string): Zone | undefined {
  if (name === '' || name === 'UTC') return utc;
  if (name === 'Local') return { ...(zoneNamed(local, 'UTC') ?? utc), name: 'Local' };
  // Offsets are zones to JavaScript, not to Go.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  if (!zones.has(name)) {
    if (zones.size > 500) zones.clear();
    zones.set(name, open(name));
  }
  return zones.get(name);
}

function open(name: string): Zone | undefined {
  try {
    const offsets = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
    return {
      name,
      at: (seconds) => {
        const date = new Date(seconds * 1000);
        const offset = readOffset(zoneNameOf(offsets, date));
        const newYear = new Date(Date.UTC(date.getUTCFullYear(), 0, 1));
        const winter = readOffset(zoneNameOf(offsets, newYear));
        return { offset, abbreviation: abbreviate(name, date, offset, winter) };
      },
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function zoneNameOf(format: Intl.DateTimeFormat, date: Date): string {
  return format.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** Seconds of `GMT+05:30`. */
function readOffset(text: string): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /([+-])(\d\d):?(\d\d)?:?(\d\d)?/.exec(text) ?? [];
  const sum = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -sum : sum;
}

/** Each language knows the short names of its own places only. */
const languages = ['en-US', 'en-GB', 'en-AU', 'en-NZ', 'en-ZA', 'en-IN', 'en-CA', 'en-GH', 'en-IL'];
/** The short names of zones that no language of the list knows as the IANA list has them; in summer the second one. */
const otherNames: Readonly<Record<string, readonly [string, string?]>> = {
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

function abbreviate(name: string, date: Date, offset: number, winter: number): string {
  const [standard, summer] = findOwn(otherNames, name) ?? [];
  if (standard !== undefined) return summer !== undefined && offset > winter ? summer : standard;
  for (const language of languages) {
    const short = zoneNameOf(new Intl.DateTimeFormat(language, { timeZone: name, timeZoneName: 'short' }), date);
    if (/^[A-Z]{2,5}$/.test(short)) return short;
  }
  return offsetName(offset);
}

/** `+03` or `+0530`: how the IANA list calls what has no name of its own. */
function offsetName(offset: number, isFull = false): string {
  const minutes = Math.floor(Math.abs(offset) / 60);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${minutes % 60 === 0 && !isFull ? '' : two(minutes % 60)}`;
}
