import * as m from '#messages/frame';
import { actionCommands, themeCommand } from './action-commands.ts';
import type { Command, CommandGroup } from './command.ts';
import { openPages } from '../pages.svelte.ts';
import { router } from '../../state/router.svelte.ts';
import { getPageHref } from '../routes.ts';
import { services } from '../../state/services.svelte.ts';
import { session } from '../../state/session.svelte.ts';
import { settings } from '../../state/settings.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';

/** Returns all commands of the signed-in account in the order of the palette. */
export function commandGroups(): readonly CommandGroup[] {
  const actions = actionCommands();
  const isAction = ({ id }: Command): boolean => actions.some((action) => action.id === id);
  return [
    { title: m.actions(), commands: actions },
    { title: m.goTo(), commands: pageCommands() },
    { title: m.services(), commands: serviceCommands() },
    { title: m.settingsTitle(), commands: session.isAdmin ? settingsCommands() : [] },
    { title: m.homeport(), commands: appCommands().filter((command) => !isAction(command)) },
  ].filter(({ commands }) => commands.length > 0);
}

function pageCommands(): readonly Command[] {
  return openPages().map((page) => ({
    id: `page:${page.path}`,
    title: page.title(),
    icon: page.icon,
    keywords: (page.keywords?.() ?? '').split(' ').filter(Boolean),
    run: () => router.navigate(getPageHref(page)),
  }));
}

function serviceCommands(): readonly Command[] {
  return services.list.flatMap(({ id, title, address, state }): Command[] => {
    const commands: Command[] = [];
    if (address !== null) {
      commands.push({
        id: `copy:${id}`,
        title: m.copyAddressTitle({ title }),
        icon: 'copy',
        keywords: [id, address],
        run: async () => {
          await navigator.clipboard.writeText(address);
          toasts.show(m.addressCopied({ address }));
        },
      });
    }
    // The pages are served by the control service itself, so it cannot be restarted or switched off here.
    if (!session.isAdmin || id === 'control') return commands;
    if (state !== 'off') {
      commands.push({
        id: `restart:${id}`,
        title: m.restartTitle({ title }),
        icon: 'restart',
        keywords: [id],
        once: true,
        run: async () => {
          await services.restart(id);
          toasts.show(m.titleRestarted({ title }));
        },
      });
    }
    commands.push({
      id: `turn:${id}`,
      title: state === 'off' ? m.enableTitle({ title }) : m.disableTitle({ title }),
      icon: 'power',
      keywords: [id],
      once: true,
      run: () => services.setEnabled(id, state === 'off'),
    });
    return commands;
  });
}

function settingsCommands(): readonly Command[] {
  return settings.view.sections.map(({ id, title, fields }) => ({
    id: `settings:${id}`,
    title: m.settingsOfTitle({ title }),
    icon: 'settings' as const,
    keywords: [id, ...fields.map((field) => field.title)],
    run: () => router.navigate(`/settings/${id}`),
  }));
}

function appCommands(): readonly Command[] {
  return [
    themeCommand('dark'),
    themeCommand('light'),
    themeCommand('system'),
    { id: 'leave', title: m.signOut(), icon: 'leave', keywords: [], once: true, run: () => session.signOut() },
  ];
}
