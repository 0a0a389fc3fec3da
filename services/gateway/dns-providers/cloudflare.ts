import { z } from 'zod';
import type { Fetch } from '../../contracts/outgoing.ts';
import { JsonApi } from './json-api.ts';
import { DnsProviderError, listZoneNames, type DnsProvider, type TxtRecord } from './provider.ts';

const Reply = z.object({ result: z.array(z.object({ id: z.string(), content: z.string().optional() })) });
const ttlSeconds = 60;

/** Records of the Cloudflare API, version 4. The token needs the permissions Zone:Read and DNS:Edit. */
export function createCloudflare(fetch: Fetch, token: string): DnsProvider {
  const api = new JsonApi({ fetch, base: 'https://api.cloudflare.com/client/v4', authorization: `Bearer ${token}` });

  async function list(path: string, signal: AbortSignal): Promise<z.infer<typeof Reply>['result']> {
    const reply = Reply.safeParse((await api.send('GET', path, { signal })).content);
    if (!reply.success) throw new DnsProviderError('failed', 'Unexpected reply', { cause: reply.error });
    return reply.data.result;
  }

  async function getZone(name: string, signal: AbortSignal): Promise<string> {
    for (const zone of listZoneNames(name)) {
      const [match] = await list(`/zones?name=${encodeURIComponent(zone)}`, signal);
      if (match !== undefined) return match.id;
    }
    throw new DnsProviderError('zone', name);
  }

  async function findRecords(
    { name, value }: TxtRecord,
    zone: string,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const records = await list(`/zones/${zone}/dns_records?type=TXT&name=${encodeURIComponent(name)}`, signal);
    return records.filter(({ content }) => content?.replaceAll('"', '') === value).map(({ id }) => id);
  }

  return {
    async create(record, signal) {
      const zone = await getZone(record.name, signal);
      if ((await findRecords(record, zone, signal)).length > 0) return;
      const body = { type: 'TXT', name: record.name, content: `"${record.value}"`, ttl: ttlSeconds };
      await api.send('POST', `/zones/${zone}/dns_records`, { body, signal });
    },
    async remove(record, signal) {
      const zone = await getZone(record.name, signal);
      for (const id of await findRecords(record, zone, signal))
        await api.send('DELETE', `/zones/${zone}/dns_records/${id}`, { signal, accepts: [404] });
    },
  };
}
