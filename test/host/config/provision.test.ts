import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DataFolder } from './fixture.ts';

const yaml = `version: 1
host: { logLevel: warn }
services:
  push:
    retention: 30
    token: correct-horse
`;

test('merges the file of HOMEPORT_CONFIG into the data folder and saves it', async () => {
  await using folder = await DataFolder.make('version: 1\nservices:\n  push: { retention: 3, mode: closed } # mine\n');
  await folder.write('given.yaml', yaml);
  const environment = { HOMEPORT_CONFIG: join(folder.path, 'given.yaml') };
  const config = await folder.open({ environment });
  expect(config.read()).toMatchObject({
    host: { logLevel: 'warn' },
    services: { push: { settings: { retention: 30, mode: 'closed', token: 'correct-horse' } } },
  });
  expect((await folder.open()).read()).toEqual(config.read());
  expect(await folder.read()).toContain('# mine');
  expect(config.warnings).toEqual([]);
});

test('applies it again only when its content changed, so that later changes remain', async () => {
  await using folder = await DataFolder.make();
  await folder.write('given.yaml', yaml);
  const environment = { HOMEPORT_CONFIG: join(folder.path, 'given.yaml') };
  await (await folder.open({ environment })).change('push', { retention: 5 });
  expect((await folder.open({ environment })).read().services['push']?.settings['retention']).toBe(5);
  await folder.write('given.yaml', yaml.replace('retention: 30', 'retention: 31'));
  expect((await folder.open({ environment })).read().services['push']?.settings['retention']).toBe(31);
});

test.each([
  ['services.push.retention', 'version: 1\nservices:\n  push: { retention: forever }\n'],
  ['services.push.token', 'version: 1\nservices:\n  push: { token: [hunter2] }\n'],
  ['', 'version: 1\nservices: ['],
  ['version', 'version: 2\n'],
  ['services.push.token', 'version: 1\nservices: { push: { token: { sealed: v1.hunter2 } } }\n'],
])('stops the start with the field of an invalid one (%j) and saves nothing', async (path, text) => {
  const before = 'version: 1\nservices: { push: { retention: 3 } }\n';
  await using folder = await DataFolder.make(before);
  await folder.write('given.yaml', text);
  const opening = folder.open({ environment: { HOMEPORT_CONFIG: join(folder.path, 'given.yaml') } });
  await expect(opening).rejects.toMatchObject({
    code: 'config.invalid',
    status: 422,
    fields: { [path]: expect.any(String) },
    detail: expect.stringMatching(new RegExp(`^HOMEPORT_CONFIG: .*given\\.yaml.*${path}`)),
  });
  await expect(opening).rejects.not.toMatchObject({ detail: expect.stringContaining('hunter2') });
  expect(await folder.read()).toBe(before);
});

test('stops the start when it is missing', async () => {
  await using folder = await DataFolder.make();
  const environment = { HOMEPORT_CONFIG: join(folder.path, 'not-there.yaml') };
  await expect(folder.open({ environment })).rejects.toMatchObject({ code: 'config.missing' });
});

test('offers its portable part until it was imported', async () => {
  await using folder = await DataFolder.make();
  await folder.write('given.yaml', `${yaml}portable:\n  accounts: [{ name: anna }]\n`);
  const environment = { HOMEPORT_CONFIG: join(folder.path, 'given.yaml') };
  await folder.open({ environment });
  const config = await folder.open({ environment });
  expect(config.provision?.portable).toEqual({ accounts: [{ name: 'anna' }] });
  await config.provision?.done();
  expect(config.provision).toBeUndefined();
  expect((await folder.open({ environment })).provision).toBeUndefined();
  expect(await folder.read()).not.toContain('anna');
});

test('does not merge it into a damaged homeport.yaml', async () => {
  await using folder = await DataFolder.make('services: [');
  await folder.write('given.yaml', yaml);
  const config = await folder.open({ environment: { HOMEPORT_CONFIG: join(folder.path, 'given.yaml') } });
  expect(config.problems).toHaveLength(1);
  expect(await folder.read()).toBe('services: [');
});
