import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { defineRoute, implement } from '../../../services/contracts/api.ts';
import { createApiRouter } from '../../../main/host/http/api-router.ts';
import { createCallerResolver } from '../../../main/host/http/caller.ts';
import { requestSignal } from '../../../main/host/runtime/request-signal.ts';
import { open, quietLog } from './raw.ts';

it('cancels reads of a disconnected client and completes its changes', async () => {
  const began: string[] = [];
  const ended: string[] = [];
  const letGo = Promise.withResolvers<void>();
  const wait = async (method: string): Promise<object> => {
    began.push(method);
    const signal = requestSignal.getStore();
    signal?.addEventListener('abort', () => ended.push(`${method} given up`));
    await new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      void letGo.promise.then(resolve);
    });
    ended.push(`${method} done`);
    return {};
  };
  const handlers = (['GET', 'POST'] as const).map((method) =>
    implement(
      defineRoute({ method, path: '/api/slow', summary: 'Takes long.', access: 'public', reply: z.object({}) }),
      () => wait(method),
    ),
  );
  const log = quietLog();
  await using opened = await open({
    handler: {
      http: createApiRouter({
        handlers: () => handlers,
        accounts: { authenticate: () => Promise.resolve(undefined), may: () => false },
        caller: createCallerResolver(() => []),
        log,
      }),
    },
  });
  const leaving = new AbortController();
  const both = ['GET', 'POST'].map((method) => fetch(`${opened.url}/api/slow`, { method, signal: leaving.signal }));
  await vi.waitFor(() => expect(began.toSorted()).toEqual(['GET', 'POST']));
  leaving.abort();
  for (const result of await Promise.allSettled(both)) expect(result.status).toBe('rejected');
  await vi.waitFor(() => expect(ended).toEqual(['GET given up']));
  letGo.resolve();
  await vi.waitFor(() => expect(ended).toEqual(['GET given up', 'POST done']));
  // A disconnect is not a defect and has no recipient for an error.
  expect(log.entries().filter(({ level }) => level !== 'debug')).toEqual([]);

  const stays = await fetch(`${opened.url}/api/slow`);
  expect(await stays.json()).toEqual({});
});
