import * as m from '#messages/frame';
import { downloadsApi } from '../../../../services/contracts/downloads/api.ts';
import { call } from '../../api/call.ts';
import { markAllRead } from '../../pages/inbox/actions.ts';
import { inbox } from '../../state/inbox/inbox.svelte.ts';
import type { Command } from './command.ts';
import { openPages } from '../pages.svelte.ts';
import { router } from '../../state/router.svelte.ts';
import { services } from '../../state/services.svelte.ts';
import { theme } from '../../state/theme.svelte.ts';

/** Returns the most frequent actions that are possible now; each takes one step from the palette. */
export function actionCommands(): readonly Command[] {
  const open = new Set(openPages().map(({ path }) => path));
  const downloads = services.list.find(({ id }) => id === 'downloads');
  const when = (condition: boolean, command: Command): readonly Command[] => (condition ? [command] : []);
  return [
    ...when(open.has('downloads'), {
      id: 'download',
      title: m.downloadALink(),
      icon: 'download',
      keywords: m.downloadKeywords().split(' '),
      run: () => router.navigate('/downloads'),
    }),
    ...when((downloads?.running ?? []).length > 0, {
      id: 'downloads-pause',
      title: m.pauseDownloads(),
      icon: 'pause',
      keywords: [],
      once: true,
      run: async () => void (await call(downloadsApi.pause, { body: {} })),
    }),
    ...when(open.has('push'), {
      id: 'publish',
      title: m.publishAMessage(),
      icon: 'send',
      keywords: m.publishKeywords().split(' '),
      run: () => router.navigate('/push?compose=1'),
    }),
    ...when(inbox.unread > 0, {
      id: 'read',
      title: m.markAllMessagesRead(),
      icon: 'unread',
      keywords: m.markReadKeywords().split(' '),
      once: true,
      run: () => markAllRead(),
    }),
    themeCommand(isDark() ? 'light' : 'dark'),
  ];
}

/** Returns the command that selects a theme or the theme of the operating system. */
export function themeCommand(choice: typeof theme.choice): Command {
  const [title, keywords] = {
    dark: [m.darkTheme, m.darkThemeKeywords] as const,
    light: [m.lightTheme, m.lightThemeKeywords] as const,
    system: [m.themeOfTheSystem, m.systemThemeKeywords] as const,
  }[choice];
  return {
    id: `theme:${choice}`,
    title: title(),
    icon: 'theme',
    keywords: keywords().split(' '),
    run: () => theme.choose(choice),
  };
}

function isDark(): boolean {
  return theme.choice === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme.choice === 'dark';
}
