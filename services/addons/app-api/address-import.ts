import * as m from '#messages/addons-problems';
import { isRecord } from '../../contracts/is-record.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { Problem } from '../../contracts/problem.ts';
import type { RouteDependencies } from '../stremio-api/route-dependencies.ts';
import type { Trust } from '../upstream/address-policy.ts';

const timeoutMs = 15_000;
const maxBytes = 2 * 1024 * 1024;

/** Address of an installed configuration of AIOStreams or Homeport. */
const installPattern = /^(https?:\/\/.+)\/stremio\/([0-9a-f-]{36})\/[^/]+(?:\/[^/]*)?$/i;

export interface ImportAddress {
  readonly address: string;
  /** Password of the configuration behind an install address; empty for other addresses. */
  readonly password: string;
  readonly trust: Trust;
}

/**
 * Reads the configuration behind an address: an install address of AIOStreams or Homeport, a JSON file, or the manifest
 * of a single addon, which becomes a configuration with this addon.
 *
 * @throws Problem `addons.import_password` (400), `addons.import_refused` (422), `addons.import_empty` (422), and as
 *   `Fetch` does
 */
export async function readSharedConfig(
  { catalog: { guardedFetch } }: Pick<RouteDependencies, 'catalog'>,
  { address, password, trust }: ImportAddress,
): Promise<unknown> {
  const url = address.trim().replace(/^stremio:\/\//i, 'https://');
  const install = installPattern.exec(url);
  const [, base = '', uuid = ''] = install ?? [];
  if (install !== null && password === '') throw createProblem('import_password', 400, 'password', m.importPassword());
  const basic = Buffer.from(`${uuid}:${password}`).toString('base64');
  const reply = await guardedFetch.fetch(install === null ? url : `${base}/api/v1/user?raw=true`, {
    headers: { accept: 'application/json', ...(install === null ? {} : { authorization: `Basic ${basic}` }) },
    name: URL.parse(url)?.hostname ?? url,
    trust,
    timeoutMs,
    maxBytes,
  });
  if (reply.status !== 200) {
    const field = install === null ? 'address' : 'password';
    throw createProblem('import_refused', 422, field, m.importRefused({ status: reply.status }));
  }
  const content = parseJson(Buffer.from(reply.body).toString('utf8'));
  const config = install === null ? content : readUserData(content);
  if (isManifest(config)) return createAddonConfig(config, url);
  if (!isRecord(config) && !Array.isArray(config)) {
    throw createProblem('import_empty', 422, 'address', m.importEmpty());
  }
  return config;
}

/** Returns the configuration in a reply of the user API. */
function readUserData(content: unknown): unknown {
  const data = isRecord(content) ? content['data'] : undefined;
  return isRecord(data) ? data['userData'] : undefined;
}

function isManifest(content: unknown): content is Record<string, unknown> {
  return isRecord(content) && Array.isArray(content['resources']) && typeof content['version'] === 'string';
}

function createAddonConfig(manifest: Record<string, unknown>, manifestUrl: string): Record<string, unknown> {
  const name = typeof manifest['name'] === 'string' ? manifest['name'] : '';
  return {
    addonName: name,
    presets: [{ type: 'custom', instanceId: 'imported', enabled: true, options: { name, manifestUrl } }],
    services: [],
    formatter: { id: 'torrentio' },
    sortCriteria: { global: [] },
  };
}

function createProblem(code: string, status: number, field: string, detail: string): Problem {
  return new Problem(`addons.${code}`, status, detail, { fields: { [field]: detail } });
}
