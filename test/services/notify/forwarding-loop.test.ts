import { expect, it, vi } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { openTestHost } from '../../support/host.ts';
import { createProbe } from './support.ts';

it('does not reach the key again when a destination of the key leads back to Homeport', async () => {
  const probe = createProbe(['inbox', 'push']);
  await using host = await openTestHost({ services: [probe.descriptor, notify] });
  const base = host.url('notify');
  const post = (path: string, fields: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(base + path, { method: 'POST', body: new URLSearchParams(fields) });
  const url = base.replace('http:', 'apprise:');
  expect((await post('/add/circle', { config: `inbox://\n${url}/circle`, format: 'text' })).status).toBe(200);
  await post('/notify/circle', { body: 'x' });
  await vi.waitFor(() => expect(host.log.join('\n')).toContain('is an address of Homeport itself'), {
    timeout: 10_000,
  });
  expect([...probe.offers.inbox.values()]).toHaveLength(1);
});
