import { downloadsApi } from '../../../services/contracts/downloads/api.ts';
import { call } from '../api/call.ts';
import { markAllRead } from '../pages/inbox/actions.ts';
import { inbox } from '../pages/inbox/inbox.svelte.ts';
import type { Command } from './command.ts';
import { openPages } from './pages.svelte.ts';
import { place } from './router.svelte.ts';
import { services } from './services.svelte.ts';
import { theme } from './theme.svelte.ts';

/** What is done most, as far as it can be done now: each is one step from the palette. */
export function actionCommands(): readonly Command[] {
  const open = new Set(openPages().map(({ at }) => at));
  const downloads = services.list.find(({ id }) => id === 'downloads');
  const when = (given: boolean, command: Command): readonly Command[] => (given ? [command] : []);
  return [
    ...when(open.has('downloads'), {
      ...{ id: 'download', title: 'Download a link', icon: 'download', words: ['paste', 'video', 'add'] },
      run: () => place.go('/downloads'),
    }),
    ...when((downloads?.running ?? []).length > 0, {
      ...{ id: 'downloads-pause', title: 'Pause downloads', icon: 'pause', words: [], once: true },
      run: async () => void (await call(downloadsApi.pause, { body: {} })),
    }),
    ...when(open.has('push'), {
      ...{ id: 'publish', title: 'Publish a message', icon: 'send', words: ['send', 'push', 'compose'] },
      run: () => place.go('/push?compose=1'),
    }),
    ...when(inbox.unread > 0, {
      ...{ id: 'read', title: 'Mark all messages read', icon: 'unread', words: ['inbox'], once: true },
      run: () => markAllRead(),
    }),
    themeCommand(isDark() ? 'light' : 'dark'),
  ];
}

/** Shows this browser one of the themes, or the one that the system has. */
export function themeCommand(choice: typeof theme.choice): Command {
  const [title, words] = {
    dark: ['Dark theme', ['appearance', 'night']] as const,
    light: ['Light theme', ['appearance', 'day']] as const,
    system: ['Theme of the system', ['appearance', 'dark', 'light']] as const,
  }[choice];
  return { id: `theme:${choice}`, title, icon: 'theme', words, run: () => theme.choose(choice) };
}

function isDark(): boolean {
  return theme.choice === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme.choice === 'dark';
}
