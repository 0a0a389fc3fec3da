import { describe, expect, it } from 'vitest';
import { filterCommands, rankGroups } from '../../renderer/src/frame/palette/command-search.ts';

const command = (title: string, ...keywords: string[]) => ({
  id: title,
  title,
  icon: 'settings' as const,
  keywords,
  run: () => undefined,
});
const groups = [
  {
    title: 'Services',
    commands: [command('Copy the address of Push', 'push', 'http://127.0.0.1:2586'), command('Restart Push', 'push')],
  },
  { title: 'Settings', commands: [command('Settings of Push', 'Retention'), command('Push settings')] },
];
const findNames = (typed: string): string[] =>
  rankGroups(filterCommands(groups, typed), typed).flatMap(({ commands }) => commands.map(({ title }) => title));

describe('the search for a command', () => {
  it.each([
    ['', ['Copy the address of Push', 'Restart Push', 'Settings of Push', 'Push settings']],
    ['rest', ['Restart Push']],
    ['push REST', ['Restart Push']],
    ['retention', ['Settings of Push']],
    ['push s', ['Push settings', 'Settings of Push']],
    ['start', []],
  ])('finds commands for %j', (typed, titles) => {
    expect(findNames(typed)).toEqual(titles);
  });

  it.each(['reseau', 'RÉSEAU', 'telephone', 'ordinateur'])('ignores accents, case and elision in %j', (typed) => {
    const french = [{ title: 'Pages', commands: [command('Réseau', 'téléphone', 'l’ordinateur'), command('Accueil')] }];

    expect(filterCommands(french, typed)).toEqual([{ title: 'Pages', commands: [french[0]!.commands[0]] }]);
  });

  it('ranks a title first that differs from the typed text in accents only', () => {
    const french = [{ title: 'Pages', commands: [command('Journal du réseau'), command('Réseau')] }];

    expect(rankGroups(french, 'reseau')[0]?.commands.map(({ title }) => title)).toEqual([
      'Réseau',
      'Journal du réseau',
    ]);
  });

  it('sorts the best match first, merges groups with the same title, and keeps large groups last', () => {
    const results = [
      { title: 'Services', commands: [command('Restart Push', 'push'), command('Push service')] },
      { title: 'Topics', commands: [command('backup-push'), command('push')] },
      { title: 'In the inbox', commands: [command('Other words'), command('Push')], many: true },
    ];
    const titles = rankGroups([...filterCommands(groups, 'push'), ...results], 'push');
    expect(titles.map(({ title, commands }) => [title, ...commands.map((entry) => entry.title)])).toEqual([
      ['Topics', 'push', 'backup-push'],
      ['Services', 'Push service', 'Copy the address of Push', 'Restart Push'],
      ['Settings', 'Push settings', 'Settings of Push'],
      ['In the inbox', 'Other words', 'Push'],
    ]);
  });
});
