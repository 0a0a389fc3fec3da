import * as configProblems from '#messages/config-problems';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Problem } from '../../../services/contracts/problem.ts';
import { DataFolder } from './fixture.ts';

async function catchProblem(promise: Promise<unknown>): Promise<Problem> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('expected a Problem');
}

test('saves a change, notifies listeners and reads it after a restart', async () => {
  await using folder = await DataFolder.make();
  const config = await folder.open();
  const notices: unknown[] = [];
  using _listening = config.onChange((settings, change) => notices.push([settings.services['push']?.port, change]));
  const change = await config.change('push', { port: 2600, retention: 7, mode: 'closed' });
  expect(change).toEqual({ changed: ['services.push.port', 'services.push.mode'], sections: ['push'] });
  expect(notices).toEqual([[2600, change]]);
  expect(config.read().services['push']).toMatchObject({ port: 2600, settings: { mode: 'closed' } });
  expect((await folder.open()).read()).toEqual(config.read());
  expect((await stat(join(folder.path, 'homeport.yaml'))).mode & 0o777).toBe(0o600);
});

test('preserves comments, order and unknown names', async () => {
  await using folder = await DataFolder.make(`# my settings
version: 1
future: { a: 1 } # of a later version
services:
  # the phones
  push:
    port: 2586 # as ntfy
    colour: blue # not ours
    retention: 9
  shop: { open: true }
`);
  const config = await folder.open();
  expect(config.problems).toEqual([]);
  expect(config.warnings.map(({ path, line }) => [path, line])).toEqual([
    ['future', 3],
    ['services.push.colour', 8],
    ['services.shop', 10],
  ]);
  await config.change('push', { port: 2600, topics: ['a'] });
  expect(await folder.read()).toBe(`# my settings
version: 1
future: { a: 1 } # of a later version
services:
  # the phones
  push:
    port: 2600 # as ntfy
    colour: blue # not ours
    retention: 9
    topics:
      - a
  shop: { open: true }
`);
});

test('restores the default for null unless null is a value of the field', async () => {
  await using folder = await DataFolder.make('version: 1\nservices: { push: { retention: 9, mode: closed } }\n');
  const config = await folder.open();
  await config.change('push', { retention: null, note: null });
  expect(config.read().services['push']?.settings).toMatchObject({ retention: 7, note: null, mode: 'closed' });
  expect(await folder.read()).not.toContain('retention');
});

test('keeps the last three versions', async () => {
  await using folder = await DataFolder.make();
  const config = await folder.open();
  for (const retention of [1, 2, 3, 4, 5]) await config.change('push', { retention });
  const versions = await Promise.all(['', '.1', '.2', '.3'].map((age) => folder.read(`homeport.yaml${age}`)));
  expect(versions.map((text) => /retention: (\d)/.exec(text)?.[1])).toEqual(['5', '4', '3', '2']);
  expect(await folder.names()).toEqual(['homeport.yaml', 'homeport.yaml.1', 'homeport.yaml.2', 'homeport.yaml.3']);
});

test('rejects wrong values and unknown names with field paths and saves nothing', async () => {
  await using folder = await DataFolder.make();
  const config = await folder.open();
  const wrong = await catchProblem(config.change('push', { port: 70_000, retention: 'long', limits: { perDay: 'x' } }));
  expect([wrong.code, wrong.status, Object.keys(wrong.fields).sort()]).toEqual([
    'config.invalid',
    422,
    ['services.push.limits.perDay', 'services.push.port', 'services.push.retention'],
  ]);
  expect(wrong.fields['services.push.retention']).toBe('Expected a number.');
  const hostile: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "prot": 1}');
  const unknown = await catchProblem(config.change('push', hostile as Record<string, unknown>));
  expect([unknown.code, Object.keys(unknown.fields).sort()]).toEqual([
    'config.invalid',
    ['services.push.__proto__', 'services.push.constructor', 'services.push.prot'],
  ]);
  expect((await catchProblem(config.change('shop', {}))).code).toBe('config.unknown_section');
  expect((await catchProblem(config.change('__proto__', {}))).status).toBe(404);
  const rule = await catchProblem(config.change('range', { from: 5 }));
  expect(rule.fields).toEqual({ 'services.range': 'The lower end must not be above the upper.' });
  expect(await folder.names()).toEqual([]);
});

test('rejects a locked field with its variable unless it is unchanged', async () => {
  await using folder = await DataFolder.make('version: 1\nservices: { push: { retention: 3 } }\n');
  const config = await folder.open({ environment: { PUSH_RETENTION: '14', PUSH_TOKEN: 'correct-horse' } });
  const locked = await catchProblem(config.change('push', { retention: 20, mode: 'closed' }));
  expect([locked.code, locked.status, locked.detail]).toEqual([
    'config.locked',
    409,
    configProblems.settingLocked({ title: 'Retention', name: 'PUSH_RETENTION' }),
  ]);
  expect((await catchProblem(config.change('push', { token: 'another-horse' }))).detail).not.toContain('horse');
  expect(config.read().services['push']?.settings['mode']).toBe('open');
  expect((await config.change('push', { retention: 14, mode: 'closed', token: { set: true } })).changed).toEqual([
    'services.push.mode',
  ]);
  expect(await folder.read()).toContain('retention: 3');
  expect(await folder.read()).not.toContain('horse');
});

test('lets a service reject a change before it is saved', async () => {
  await using folder = await DataFolder.make();
  const config = await folder.open();
  const refusal = new Problem('push.no', 409, 'That port is taken.');
  const seen: unknown[] = [];
  await expect(
    config.change('push', { port: 80 }, async (next) => {
      seen.push(next.services['push']?.port, config.read().services['push']?.port);
      await Promise.resolve();
      throw refusal;
    }),
  ).rejects.toBe(refusal);
  expect(seen).toEqual([80, 2586]);
  expect(config.read().services['push']?.port).toBe(2586);
  expect(await folder.names()).toEqual([]);
});

test('serializes concurrent changes without losing any', async () => {
  await using folder = await DataFolder.make();
  const config = await folder.open();
  const outcomes = await Promise.allSettled([
    config.change('push', { retention: 1 }),
    config.change('push', { retention: 'x' }),
    config.change('host', { logLevel: 'debug' }),
    config.change('push', { topics: ['a'] }),
    config.change('range', { from: 0 }),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  const second = (await folder.open()).read();
  expect(second).toEqual(config.read());
  expect(second).toMatchObject({
    host: { logLevel: 'debug' },
    services: { push: { settings: { retention: 1, topics: ['a'] } }, range: { settings: { from: 0 } } },
  });
});

test('includes manual edits in the next change', async () => {
  await using folder = await DataFolder.make('version: 1\n');
  const config = await folder.open();
  await folder.write('homeport.yaml', 'version: 1 # mine\nservices: { push: { retention: 30 } }\n');
  const change = await config.change('push', { mode: 'closed' });
  expect(change.changed).toEqual(['services.push.retention', 'services.push.mode']);
  expect(await folder.read()).toContain('# mine');
});

test('keeps a copy of a file broken by hand and saves the effective settings', async () => {
  await using folder = await DataFolder.make('version: 1\nservices: { push: { retention: 30 } }\n');
  const config = await folder.open();
  await folder.write('homeport.yaml', 'services: [');
  await config.change('push', { mode: 'closed' });
  expect((await folder.open()).read().services['push']?.settings).toMatchObject({ retention: 30, mode: 'closed' });
  expect(await folder.read('homeport.yaml.bad')).toBe('services: [');
});

test('preserves redacted secrets, also in a reordered list', async () => {
  await using folder = await DataFolder.make(`version: 1
services:
  push:
    token: correct-horse
    upstreams:
      - { url: https://a.example, password: of-a }
      - { url: https://b.example, password: of-b }
      - { url: https://c.example, password: of-c }
`);
  const config = await folder.open();
  const set = { set: true };
  await config.change('push', {
    token: set,
    upstreams: [
      { url: 'https://c.example', password: set },
      { url: 'https://b2.example', password: set },
      { url: 'https://a.example', password: set },
    ],
  });
  expect(config.read().services['push']?.settings).toMatchObject({
    token: 'correct-horse',
    upstreams: [{ password: 'of-c' }, { url: 'https://b2.example', password: 'of-b' }, { password: 'of-a' }],
  });
  const unsure = await catchProblem(
    config.change('push', {
      upstreams: [
        { url: 'https://x.example', password: set },
        { url: 'https://y.example', password: set },
      ],
    }),
  );
  expect(unsure.fields).toEqual({
    'services.push.upstreams.0.password': configProblems.secretAgain(),
    'services.push.upstreams.1.password': configProblems.secretAgain(),
  });
});

test('does not affect other users of a shared YAML group', async () => {
  await using folder = await DataFolder.make(`version: 1
services:
  push: &off { enabled: false }
  range: *off
`);
  const config = await folder.open();
  await config.change('range', { enabled: true, from: 0 });
  expect((await folder.open()).read().services).toMatchObject({
    push: { enabled: false },
    range: { enabled: true, settings: { from: 0 } },
  });
});

test('changes nothing when any step of the write fails', async () => {
  await using folder = await DataFolder.make();
  await (await folder.open()).change('push', { retention: 1 });
  const steps: string[] = [];
  let failAt = Infinity;
  const config = await folder.open({
    step: (step) => {
      steps.push(step);
      if (steps.length > failAt) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    },
  });
  await config.change('push', { retention: 2 });
  const count = steps.length;
  expect(count).toBeGreaterThan(6);
  // The last step only syncs what is already in place.
  for (failAt = 0; failAt < count - 1; failAt += 1) {
    steps.length = 0;
    const full = await catchProblem(config.change('push', { retention: 3 }));
    expect([full.code, full.status]).toEqual(['config.unwritable', 507]);
    expect((await folder.names()).filter((name) => /\.(new|old)$/.test(name))).toEqual([]);
    expect(config.read().services['push']?.settings['retention']).toBe(2);
    expect((await folder.open()).read().services['push']?.settings['retention']).toBe(2);
  }
  steps.length = 0;
  failAt = count - 1;
  await config.change('push', { retention: 3 });
  expect((await folder.open()).read().services['push']?.settings['retention']).toBe(3);
});
