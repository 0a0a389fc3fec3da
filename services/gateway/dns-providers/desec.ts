import { z } from 'zod';
import type { Fetch } from '../../contracts/outgoing.ts';
import { JsonApi } from './json-api.ts';
import { DnsProviderError, toRelativeName, type DnsProvider, type TxtRecord } from './provider.ts';

const Domains = z.array(z.object({ name: z.string(), minimum_ttl: z.int().default(3600) }));
const RecordSet = z.object({ records: z.array(z.string()) });

/** Record sets of the deSEC API, version 1. */
export function createDesec(fetch: Fetch, token: string): DnsProvider {
  const api = new JsonApi({ fetch, base: 'https://desec.io/api/v1', authorization: `Token ${token}` });

  /** Replaces the values of a name; an empty list deletes the record set. */
  async function change(
    { name }: TxtRecord,
    signal: AbortSignal,
    toValues: (values: readonly string[]) => readonly string[],
  ): Promise<void> {
    const { content } = await api.send('GET', `/domains/?owns_qname=${encodeURIComponent(name)}`, { signal });
    const [domain] = Domains.catch([]).parse(content);
    if (domain === undefined) throw new DnsProviderError('zone', name);
    const relative = toRelativeName(name, domain.name);
    const path = `/domains/${encodeURIComponent(domain.name)}/rrsets/`;
    const existing = await api.send('GET', `${path}${relative}/TXT/`, { signal, accepts: [404] });
    const values = existing.status === 404 ? [] : RecordSet.catch({ records: [] }).parse(existing.content).records;
    const records = toValues(values);
    const subname = relative === '@' ? '' : relative;
    const body = [{ subname, type: 'TXT', ttl: domain.minimum_ttl, records }];
    await api.send('PUT', path, { body, signal });
  }

  return {
    create: (record, signal) => change(record, signal, (values) => [...new Set([...values, `"${record.value}"`])]),
    remove: (record, signal) =>
      change(record, signal, (values) => values.filter((each) => each !== `"${record.value}"`)),
  };
}
