import * as m from '#messages/addons-problems';
import type { BuiltIn } from '../upstream/addon.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import { parseTitleRequest } from '../domain/title-request.ts';
import { isVideo } from '../domain/select-file.ts';
import {
  createMalformedError,
  toNumber,
  toText,
  type ProviderHttpClient,
  type ProviderReply,
} from './provider-http-client.ts';
import { ProviderError } from '../domain/provider-error.ts';
import { toRecord } from '../../contracts/is-record.ts';

const minDurationSeconds = 60;
const dayMs = 86_400_000;

/** Search result of Easynews. */
interface EasynewsResult {
  readonly name: string;
  readonly size: number;
  readonly url: string;
  readonly postedAt: number | undefined;
  readonly languages: readonly string[];
}

/** Client of Easynews, which offers no torrents but a search with results that play immediately. */
export class Easynews {
  readonly #httpClient: ProviderHttpClient;
  readonly #authorization: string;

  constructor(httpClient: ProviderHttpClient, { username = '', password = '' }: Readonly<Record<string, string>>) {
    this.#httpClient = httpClient;
    this.#authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  get authorization(): string {
    return this.#authorization;
  }

  /** Verifies the credentials by a search for one result. */
  async verifyCredentials(): Promise<void> {
    await this.#search('test', 1);
  }

  async search(query: string): Promise<readonly EasynewsResult[]> {
    const response = await this.#search(query, 250);
    const data: unknown = response['data'];
    if (!Array.isArray(data)) throw createMalformedError(this.#httpClient.service.name);
    const downloadBase = [response['downURL'], response['dlFarm'], response['dlPort']].map(toText).join('/');
    return data.flatMap((item: unknown) => toResults(item, downloadBase));
  }

  async #search(searchQuery: string, perPage: number): Promise<Readonly<Record<string, unknown>>> {
    const parameters = new URLSearchParams({
      fly: '2',
      gps: searchQuery,
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
    const path = `/2.0/search/solr-search/?${parameters.toString()}`;
    const headers = { authorization: this.#authorization };
    const sendRequest = async (): Promise<ProviderReply> => await this.#httpClient.send({ path, headers }, findError);
    let reply = await sendRequest();
    // Easynews occasionally sends an empty response.
    if (reply.json === undefined) reply = await sendRequest();
    if (reply.json === undefined) throw createMalformedError(this.#httpClient.service.name);
    return toRecord(reply.json);
  }
}

function findError({ status }: ProviderReply): ProviderError | undefined {
  if (status !== 401 && status !== 403) return undefined;
  return new ProviderError('UNAUTHORIZED', () => m.loginRejected({ name: 'Easynews' }), {
    reason: String(status),
  });
}

/** Reads a search result. Its members are named, or numbered in an older format. */
function toResults(item: unknown, downloadBase: string): readonly EasynewsResult[] {
  const getMember = (name: string, number: string): unknown => {
    const members = item as Readonly<Record<string, unknown>>;
    return typeof item === 'object' && item !== null ? (members[name] ?? members[number]) : undefined;
  };
  const [hash, name, suffix] = [
    toText(getMember('hash', '0')),
    toText(getMember('fn', '10')),
    toText(getMember('id', '_')),
  ];
  const rawExtension = toText(getMember('extension', '11'));
  const extension = rawExtension.startsWith('.') || rawExtension === '' ? rawExtension : `.${rawExtension}`;
  const seconds = parseRuntime(getMember('runtime', '14'));
  const size = toNumber(getMember('rawSize', '_')) ?? parseSize(toText(getMember('size', '4')));
  if (hash === '' || name === '' || !isVideo(`x${extension}`) || size <= 0) return [];
  if (seconds !== undefined && seconds < minDurationSeconds) return [];
  if (/sample/i.test(name.slice(Math.floor(name.length / 2))) || getMember('passwd', '_') === true) return [];
  const postedValue = getMember('ts', '5');
  const languages = getMember('alangs', '_');
  const file = encodeURIComponent(`${name}${extension}`);
  return [
    {
      name: `${name}${extension}`,
      size,
      url: `${downloadBase}/${hash}${suffix}${extension}/${file}`,
      postedAt: typeof postedValue === 'number' ? postedValue * 1000 : Date.parse(toText(postedValue)) || undefined,
      languages: Array.isArray(languages) ? languages.map(toText) : [],
    },
  ];
}

function parseRuntime(runtime: unknown): number | undefined {
  if (typeof runtime === 'number') return runtime;
  const match = /(?:(\d+)h:?)?\s*(?:(\d+)m:?)?\s*(?:(\d+)s)?/.exec(toText(runtime));
  if (match?.[0] === undefined || match[0].trim() === '') return undefined;
  return Number(match[1] ?? 0) * 3600 + Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0);
}

function parseSize(text: string): number {
  const match = /([\d.]+)\s*([KMGT])B/i.exec(text);
  const power = 'KMGT'.indexOf(match?.[2]?.toUpperCase() ?? '') + 1;
  return match === null ? 0 : Math.round(Number(match[1]) * 1024 ** power);
}

export interface EasynewsAddonOptions {
  readonly client: Easynews;
  readonly findTitle: (
    request: ResourceRequest,
  ) => Promise<{ readonly titles: readonly string[]; readonly year: number | undefined }>;
  readonly now: () => number;
  /** Cache key of the responses. */
  readonly key: string;
  /** Returns an address of the stream proxy that sends the given headers. */
  readonly buildStreamUrl: (url: string, headers: Readonly<Record<string, string>>, name: string) => string;
}

/** Offers the search of Easynews as an addon. */
export function createEasynewsAddon({ client, findTitle, now, key, buildStreamUrl }: EasynewsAddonOptions): BuiltIn {
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
      const { titles, year } = await findTitle(request);
      const [title] = titles;
      if (title === undefined) return { streams: [] };
      const { season, episode } = parseTitleRequest(request.type, request.id);
      const padNumber = (number: number): string => String(number).padStart(2, '0');
      const query =
        season !== undefined && episode !== undefined
          ? `${title} S${padNumber(season)}E${padNumber(episode)}`
          : `${title} ${year === undefined ? '' : String(year)}`;
      const results = await client.search(query.trim());
      const age = (postedAt: number | undefined): string => {
        if (postedAt === undefined) return '';
        return `\n📅 ${String(Math.max(0, Math.floor((now() - postedAt) / dayMs)))}d`;
      };
      return {
        streams: results.map(({ name, size, url, postedAt }) => ({
          name: '[EN+] Easynews',
          description: `${name}${age(postedAt)}`,
          // The credentials stay in the address of the proxy, which is sealed.
          url: buildStreamUrl(url, { authorization: client.authorization }, name),
          behaviorHints: { filename: name, videoSize: size },
        })),
      };
    },
  };
}
