import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { InboxItem } from '../../../services/contracts/inbox/api.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';

const headers = { authorization: adminAuthorization };

const message = 'keeps every acknowledged message across kill -9 and stores each once in the inbox';

it.each(['sqlite', 'postgres'])(
  `${message}, on %s`,
  async (engine) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'push-kill-'));
    const acknowledged: string[] = [];
    const resources = new AsyncDisposableStack();
    try {
      const url = engine === 'postgres' ? resources.use(await openPostgresDatabase()).url : '';
      const environment = url === '' ? {} : { HOMEPORT_DATABASE_URL: url };
      // The inbox lags slightly, so each kill hits another point between publication and row.
      for (const blow of [150, 157, 300]) {
        await using host = await startHostProcess(dataDir, { environment });
        const publisher = async (name: string): Promise<void> => {
          for (let index = 0; ; index += 1) {
            const reply = await fetch(`${host.url('push')}/kill`, {
              method: 'POST',
              headers,
              body: `${blow}-${name}-${index}`,
            });
            const { id } = (await reply.json()) as { id: string };
            acknowledged.push(id);
          }
        };
        const publishing = Promise.allSettled(Array.from({ length: 8 }, (_, index) => publisher(`p${index}`)));
        await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(blow);
        await host.kill();
        await publishing;
      }
      await using host = await startHostProcess(dataDir, { environment });
      const reply = await fetch(`${host.url('push')}/kill/json?poll=1`, { headers });
      const cached = (await reply.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { id: string; message: string });
      expect(acknowledged.filter((id) => !cached.some((message) => message.id === id))).toEqual([]);
      const stats = (await (await fetch(`${host.url('push')}/v1/stats`)).json()) as { messages: number };
      expect(stats.messages).toBe(cached.length);

      const bodies = async (): Promise<string[]> => {
        const stored: string[] = [];
        for (let before = ''; ;) {
          const page = await api<{ items: InboxItem[] }>(host.url('control'), `/api/inbox?limit=200${before}`);
          stored.push(...page.items.map((item) => item.body));
          if (page.items.length < 200) return stored.sort();
          before = `&before=${page.items.at(-1)?.id ?? 0}`;
        }
      };
      await expect
        .poll(bodies, { timeout: 20_000, interval: 200 })
        .toEqual(cached.map(({ message }) => message).sort());
    } finally {
      await resources.disposeAsync();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
  90_000,
);
