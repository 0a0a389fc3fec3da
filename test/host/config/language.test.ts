import * as configProblems from '#messages/config-problems';
import { beforeAll, describe, expect, it } from 'vitest';
import { getLanguage, withLanguage } from '../../../messages/language.ts';
import { loadLanguage } from '../../../messages/runtime.ts';
import { runInLanguage } from '../../../services/kit/language.ts';
import { DataFolder } from './fixture.ts';

const german = { language: 'de', locale: 'de-DE' };
const inGerman = (message: () => string): string => withLanguage('de', message);

beforeAll(() => loadLanguage('de'));

describe('the configuration', () => {
  it.each([
    ['version: 1\n\tservices: {}\n', configProblems.tabIndent],
    ['version: 1\nservices: 3\n', configProblems.expectedGroup],
  ])('returns the problem of the file %j in the language of each reader', async (text, message) => {
    await using folder = await DataFolder.make(text);
    const config = await runInLanguage(german, () => folder.open());

    expect(config.problems[0]?.message).toBe(message());
    expect(inGerman(() => config.problems[0]?.message ?? '')).toBe(inGerman(message));
    expect(config.problems[0]?.message).toBe(message());
  });

  it('logs problems in English', async () => {
    await using folder = await DataFolder.make('version: 1\nservices: 3\n');
    await runInLanguage(german, () => folder.open());

    expect(folder.logged.join('\n')).toContain(configProblems.expectedGroup());
  });

  it('returns earlier problems of a service in the language of each reader, also after their correction', async () => {
    await using folder = await DataFolder.make('version: 1\nservices:\n  push:\n    port: 70000\n');
    const config = await folder.open();
    const getProblems = config.getProblems('push');
    await config.change('push', { port: 2600 });

    const [english] = getProblems();
    expect(english?.path).toBe('services.push.port');
    expect(inGerman(() => getProblems()[0]?.message ?? '')).not.toBe(english?.message);
    expect(config.getProblems('push')()).toEqual([]);
  });

  it('reports no existing problem as changed when another reader changes a setting', async () => {
    await using folder = await DataFolder.make('version: 1\nservices:\n  push:\n    retention: 0\n');
    const config = await folder.open();

    const change = await runInLanguage(german, () => config.change('push', { port: 2600 }));

    expect(change).toEqual({ changed: ['services.push.port'], sections: ['push'] });
  });

  it('refuses a change in the language of the reader', async () => {
    await using folder = await DataFolder.make();
    const config = await folder.open();

    const refused = runInLanguage(german, () => config.change('push', { retention: 0 }));
    const refusedInEnglish = config.change('push', { retention: 0 });

    const [first, second] = await Promise.allSettled([refused, refusedInEnglish]);
    expect([first, second].map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(String((first as PromiseRejectedResult).reason)).not.toBe(String((second as PromiseRejectedResult).reason));
  });

  it('builds its description once for each language', async () => {
    await using folder = await DataFolder.make();
    const config = await folder.open();
    const describeGerman = () => withLanguage('de', () => config.describe().sections[1]);

    const before = describeGerman();
    expect(before?.fields[0]?.title).not.toBe(config.describe().sections[1]?.fields[0]?.title);
    await config.change('push', { port: 2600 });
    // The schema of a section is the same object until it is built again.
    expect(describeGerman()?.schema).toBe(before?.schema);
  });

  it('calls listeners in English, regardless of who changes a setting', async () => {
    await using folder = await DataFolder.make();
    const config = await folder.open();
    const languages: string[] = [];
    using _listening = config.onChange(() => languages.push(getLanguage()));

    await runInLanguage(german, () => config.change('push', { port: 2600 }));

    expect(languages).toEqual(['en']);
  });
});
