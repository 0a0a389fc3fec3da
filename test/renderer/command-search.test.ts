import { describe, expect, it } from 'vitest';
import { fitting } from '../../renderer/src/state/command-search.ts';

const command = (title: string, ...words: string[]) => ({
  ...{ id: title, title, icon: 'settings' as const, words },
  run: () => undefined,
});
const groups = [
  {
    title: 'Services',
    commands: [command('Copy the address of Push', 'push', 'http://127.0.0.1:2586'), command('Restart Push', 'push')],
  },
  { title: 'Settings', commands: [command('Settings of Push', 'Retention'), command('Push settings')] },
];
const found = (typed: string): string[] =>
  fitting(groups, typed).flatMap(({ commands }) => commands.map(({ title }) => title));

describe('the search for a command', () => {
  it.each([
    ['', ['Copy the address of Push', 'Restart Push', 'Settings of Push', 'Push settings']],
    ['rest', ['Restart Push']],
    ['push REST', ['Restart Push']],
    ['retention', ['Settings of Push']],
    ['push s', ['Push settings', 'Settings of Push']],
    ['start', []],
  ])('finds for %j', (typed, titles) => {
    expect(found(typed)).toEqual(titles);
  });
});
