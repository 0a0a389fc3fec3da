import { describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openTestHost } from '../../support/host.ts';
import { createProbe, openReceiver } from './support.ts';

/** Number of deliveries that wait for an unavailable destination. */
export function describeWaiting(count: number): void {
  describe(`${count.toLocaleString('en')} notifications for a destination that is away`, () => {
    it('come once each and in order when it is back', async () => {
      await using receiver = await openReceiver();
      const clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
      const services = [createProbe(['inbox', 'push']).descriptor, notify, control];
      await using host = await openTestHost({ services, clock });
      const post = async (path: string, fields: unknown): Promise<void> => {
        const headers = { 'content-type': 'application/json' };
        const reply = await fetch(host.url('notify') + path, { method: 'POST', headers, body: JSON.stringify(fields) });
        await reply.text();
      };
      await post('/add/late', { config: `json://127.0.0.1:${receiver.port}/late`, format: 'text' });
      receiver.answer = 503;
      await post('/notify/late', { body: '0' });
      receiver.received.length = 0;
      const all = Array.from({ length: count }, (_, index) => String(index));
      for (let from = 1; from < all.length; from += 200) {
        await Promise.all(all.slice(from, from + 200).map((body) => post('/notify/late', { body })));
      }
      receiver.answer = 200;
      clock.advance(10_000);
      await vi.waitFor(() => expect(receiver.received).toHaveLength(all.length), { timeout: 200_000, interval: 250 });
      const messages = receiver.received.map(({ body }) => (JSON.parse(body) as { message: string }).message);
      expect(new Set(messages).size).toBe(all.length);
      // Simultaneous calls have no defined order.
      const batches = messages.map((body) => Math.ceil(Number(body) / 200));
      expect(batches).toEqual(batches.toSorted((a, b) => a - b));
    });
  });
}
