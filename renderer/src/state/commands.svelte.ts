import { actionCommands, themeCommand } from './action-commands.ts';
import type { Command, CommandGroup } from './command.ts';
import { openPages } from './pages.svelte.ts';
import { place } from './router.svelte.ts';
import { hrefOf } from './routes.ts';
import { services } from './services.svelte.ts';
import { session } from './session.svelte.ts';
import { settings } from '../pages/settings/settings.svelte.ts';
import { toasts } from './toasts.svelte.ts';

/** All that this person can do by name, in the order of the palette. */
export function commandGroups(): readonly CommandGroup[] {
  const actions = actionCommands();
  const isAction = ({ id }: Command): boolean => actions.some((action) => action.id === id);
  return [
    { title: 'Actions', commands: actions },
    { title: 'Go to', commands: pageCommands() },
    { title: 'Services', commands: serviceCommands() },
    { title: 'Settings', commands: session.admin ? settingsCommands() : [] },
    { title: 'Homeport', commands: ownCommands().filter((command) => !isAction(command)) },
  ].filter(({ commands }) => commands.length > 0);
}

function pageCommands(): readonly Command[] {
  return openPages().map((page) => ({
    id: `page:${page.at}`,
    title: page.title,
    icon: page.icon,
    words: (page.words ?? '').split(' ').filter(Boolean),
    run: () => place.go(hrefOf(page)),
  }));
}

function serviceCommands(): readonly Command[] {
  return services.list.flatMap(({ id, title, address, state }): Command[] => {
    const commands: Command[] = [];
    if (address !== null) {
      commands.push({
        ...{ id: `copy:${id}`, title: `Copy the address of ${title}`, icon: 'copy', words: [id, address] },
        run: async () => {
          await navigator.clipboard.writeText(address);
          toasts.say(`${address} copied.`);
        },
      });
    }
    // The pages come from the control service itself.
    if (!session.admin || id === 'control') return commands;
    if (state !== 'off') {
      commands.push({
        ...{ id: `restart:${id}`, title: `Restart ${title}`, icon: 'restart', words: [id], once: true },
        run: async () => {
          await services.restart(id);
          toasts.say(`${title} was started anew.`);
        },
      });
    }
    commands.push({
      ...{ id: `turn:${id}`, title: `Switch ${title} ${state === 'off' ? 'on' : 'off'}`, icon: 'power', words: [id] },
      once: true,
      run: () => services.turn(id, state === 'off'),
    });
    return commands;
  });
}

function settingsCommands(): readonly Command[] {
  return settings.view.sections.map(({ id, title, fields }) => ({
    id: `settings:${id}`,
    title: `Settings of ${title}`,
    icon: 'settings' as const,
    words: [id, ...fields.map((field) => field.title)],
    run: () => place.go(`/settings/${id}`),
  }));
}

function ownCommands(): readonly Command[] {
  return [
    themeCommand('dark'),
    themeCommand('light'),
    themeCommand('system'),
    { id: 'leave', title: 'Sign out', icon: 'leave', words: [], once: true, run: () => session.signOut() },
  ];
}
