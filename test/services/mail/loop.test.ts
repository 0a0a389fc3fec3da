import * as problems from '#messages/host-problems';
import { expect, it, vi } from 'vitest';
import { mail } from '../../../services/mail/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { openTestHost } from '../../support/host.ts';
import { createProbe } from '../notify/support.ts';
import { readSources } from './support.ts';

it('sends no mail to its own listener when a destination leads back to it', async () => {
  const probe = createProbe(['inbox', 'push']);
  await using host = await openTestHost({ services: [probe.descriptor, notify, mail] });
  const { offers } = probe;
  const url = `mailto://127.0.0.1:${String(host.port('mail'))}?from=a@example.com&to=aggregator@home`;
  await fetch(`${host.url('notify')}/add/aggregator`, {
    method: 'POST',
    body: new URLSearchParams({ config: `inbox://\n${url}`, format: 'text' }),
  });
  await fetch(`${host.url('notify')}/notify/aggregator`, { method: 'POST', body: new URLSearchParams({ body: 'x' }) });
  await vi.waitFor(
    () =>
      expect(host.log.join('\n')).toContain(
        problems.homeportAddress({ host: `127.0.0.1:${String(host.port('mail'))}` }),
      ),
    {
      timeout: 20_000,
    },
  );
  expect([...offers.inbox.values()]).toHaveLength(1);
  expect([...readSources(host.dataDir)]).toHaveLength(0);
});
