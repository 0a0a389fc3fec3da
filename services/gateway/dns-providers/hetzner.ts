import { z } from 'zod';
import type { Fetch } from '../../contracts/outgoing.ts';
import { JsonApi } from './json-api.ts';
import { DnsProviderError, listZoneNames, toRelativeName, type DnsProvider, type TxtRecord } from './provider.ts';

const RecordSet = z.object({ rrset: z.object({ records: z.array(z.object({ value: z.string() })) }) });
const ttlSeconds = 60;

/** Record sets of the Hetzner Cloud API, version 1. The token needs read and write permission. */
export function createHetzner(fetch: Fetch, token: string): DnsProvider {
  const api = new JsonApi({ fetch, base: 'https://api.hetzner.cloud/v1', authorization: `Bearer ${token}` });

  async function getPath(name: string, signal: AbortSignal): Promise<string> {
    for (const zone of listZoneNames(name)) {
      const { status } = await api.send('GET', `/zones/${encodeURIComponent(zone)}`, { signal, accepts: [404] });
      if (status === 200) return `/zones/${zone}/rrsets/${encodeURIComponent(toRelativeName(name, zone))}/TXT`;
    }
    throw new DnsProviderError('zone', name);
  }

  async function exists(path: string, { value }: TxtRecord, signal: AbortSignal): Promise<boolean> {
    const { status, content } = await api.send('GET', path, { signal, accepts: [404] });
    const set = status === 404 ? undefined : RecordSet.safeParse(content).data;
    return set?.rrset.records.some((each) => each.value === `"${value}"`) === true;
  }

  return {
    async create(record, signal) {
      const path = await getPath(record.name, signal);
      if (await exists(path, record, signal)) return;
      const body = { ttl: ttlSeconds, records: [{ value: `"${record.value}"` }] };
      await api.send('POST', `${path}/actions/add_records`, { body, signal });
    },
    async remove(record, signal) {
      const path = await getPath(record.name, signal);
      if (!(await exists(path, record, signal))) return;
      const body = { records: [{ value: `"${record.value}"` }] };
      await api.send('POST', `${path}/actions/remove_records`, { body, signal, accepts: [404] });
    },
  };
}
