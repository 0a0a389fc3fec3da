import type { BuiltIn } from '../aggregate/addon.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import { wantedOf } from '../domain/pipeline/title-request.ts';
import { isVideo } from '../domain/select-file.ts';
import {
  malformed,
  numberOf,
  record,
  textOf,
  type ProviderCaller,
  type ProviderReply,
} from './provider-http-client.ts';
import { ProviderError } from './provider.ts';

const shortestSeconds = 60;
const dayMs = 86_400_000;

/** Search result of Easynews. */
interface Found {
  readonly name: string;
  readonly size: number;
  readonly url: string;
  readonly postedAt: number | undefined;
  readonly languages: readonly string[];
}

/** Client of Easynews, which offers no torrents but a search with results that play immediately. */
export class Easynews {
  readonly #caller: ProviderCaller;
  readonly #authorization: string;

  constructor(caller: ProviderCaller, { username = '', password = '' }: Readonly<Record<string, string>>) {
    this.#caller = caller;
    this.#authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  get authorization(): string {
    return this.#authorization;
  }

  /** Verifies the credentials by a search for one result. */
  async user(): Promise<void> {
    await this.#ask('test', 1);
  }

  async search(words: string): Promise<readonly Found[]> {
    const answer = await this.#ask(words, 250);
    const data: unknown = answer['data'];
    if (!Array.isArray(data)) throw malformed(this.#caller.service.name);
    const base = [answer['downURL'], answer['dlFarm'], answer['dlPort']].map(textOf).join('/');
    return data.flatMap((item: unknown) => toFound(item, base));
  }

  async #ask(words: string, perPage: number): Promise<Readonly<Record<string, unknown>>> {
    const query = new URLSearchParams({
      fly: '2',
      gps: words,
      pby: String(perPage),
      pno: '1',
      s1: 'relevance',
      s1d: '-',
      sb: '1',
      safeO: '0',
      st: 'basic',
      u: '1',
      chxu: '1',
      chxgx: '1',
      vv: '1',
      'fty[]': 'VIDEO',
    });
    const path = `/2.0/search/solr-search/?${query.toString()}`;
    const headers = { authorization: this.#authorization };
    const send = async (): Promise<ProviderReply> => await this.#caller.call({ path, headers }, faultOf);
    let reply = await send();
    // Easynews occasionally sends an empty response.
    if (reply.json === undefined) reply = await send();
    if (reply.json === undefined) throw malformed(this.#caller.service.name);
    return record(reply.json);
  }
}

function faultOf({ status }: ProviderReply): ProviderError | undefined {
  if (status !== 401 && status !== 403) return undefined;
  return new ProviderError('UNAUTHORIZED', 'Easynews does not accept this user name and password.', {
    reason: String(status),
  });
}

/** Reads a search result. Its members are named, or numbered in an older format. */
function toFound(item: unknown, base: string): readonly Found[] {
  const of = (name: string, number: string): unknown => {
    const members = item as Readonly<Record<string, unknown>>;
    return typeof item === 'object' && item !== null ? (members[name] ?? members[number]) : undefined;
  };
  const [hash, name, suffix] = [textOf(of('hash', '0')), textOf(of('fn', '10')), textOf(of('id', '_'))];
  const given = textOf(of('extension', '11'));
  const extension = given.startsWith('.') || given === '' ? given : `.${given}`;
  const seconds = secondsOf(of('runtime', '14'));
  const size = numberOf(of('rawSize', '_')) ?? sizeOf(textOf(of('size', '4')));
  if (hash === '' || name === '' || !isVideo(`x${extension}`) || size <= 0) return [];
  if (seconds !== undefined && seconds < shortestSeconds) return [];
  if (/sample/i.test(name.slice(Math.floor(name.length / 2))) || of('passwd', '_') === true) return [];
  const posted = of('ts', '5');
  const languages = of('alangs', '_');
  const file = encodeURIComponent(`${name}${extension}`);
  return [
    {
      name: `${name}${extension}`,
      size,
      url: `${base}/${hash}${suffix}${extension}/${file}`,
      postedAt: typeof posted === 'number' ? posted * 1000 : Date.parse(textOf(posted)) || undefined,
      languages: Array.isArray(languages) ? languages.map(textOf) : [],
    },
  ];
}

function secondsOf(runtime: unknown): number | undefined {
  if (typeof runtime === 'number') return runtime;
  const found = /(?:(\d+)h:?)?\s*(?:(\d+)m:?)?\s*(?:(\d+)s)?/.exec(textOf(runtime));
  if (found?.[0] === undefined || found[0].trim() === '') return undefined;
  return Number(found[1] ?? 0) * 3600 + Number(found[2] ?? 0) * 60 + Number(found[3] ?? 0);
}

function sizeOf(text: string): number {
  const found = /([\d.]+)\s*([KMGT])B/i.exec(text);
  const power = 'KMGT'.indexOf(found?.[2]?.toUpperCase() ?? '') + 1;
  return found === null ? 0 : Math.round(Number(found[1]) * 1024 ** power);
}

export interface EasynewsAddonOptions {
  readonly client: Easynews;
  readonly titleOf: (
    request: ResourceRequest,
  ) => Promise<{ readonly titles: readonly string[]; readonly year: number | undefined }>;
  readonly now: () => number;
  /** Cache key of the responses. */
  readonly key: string;
  /** Returns an address of the stream proxy that sends the given headers. */
  readonly playable: (url: string, headers: Readonly<Record<string, string>>, name: string) => string;
}

/** Offers the search of Easynews as an addon. */
export function easynewsAddon({ client, titleOf, now, key, playable }: EasynewsAddonOptions): BuiltIn {
  return {
    key,
    manifest: {
      id: 'app.homeport.easynews',
      name: 'Easynews',
      resources: [{ name: 'stream', types: ['movie', 'series'], idPrefixes: ['tt'] }],
      catalogs: [],
      addonCatalogs: [],
    },
    async resource(request) {
      const { titles, year } = await titleOf(request);
      const [title] = titles;
      if (title === undefined) return { streams: [] };
      const { season, episode } = wantedOf(request.type, request.id);
      const two = (number: number): string => String(number).padStart(2, '0');
      const words =
        season !== undefined && episode !== undefined
          ? `${title} S${two(season)}E${two(episode)}`
          : `${title} ${year === undefined ? '' : String(year)}`;
      const found = await client.search(words.trim());
      const age = (postedAt: number | undefined): string => {
        if (postedAt === undefined) return '';
        return `\n📅 ${String(Math.max(0, Math.floor((now() - postedAt) / dayMs)))}d`;
      };
      return {
        streams: found.map(({ name, size, url, postedAt }) => ({
          name: '[EN+] Easynews',
          description: `${name}${age(postedAt)}`,
          // The credentials stay in the address of the proxy, which is sealed.
          url: playable(url, { authorization: client.authorization }, name),
          behaviorHints: { filename: name, videoSize: size },
        })),
      };
    },
  };
}
