import * as m from '#messages/desktop';
import type { WhenClosed } from '../../services/contracts/control/desktop.ts';
import type { Preferences } from './preferences.ts';

/** Effect of closing a window. */
export type Closing = 'hide' | 'quit' | 'stay';

/** Question with buttons, as the system shows it. */
export interface Question {
  readonly message: string;
  readonly detail: string;
  readonly buttons: readonly string[];
  readonly remember: string;
}

export interface ClosingDependencies {
  readonly preferences: Preferences;
  /** Returns whether an icon in the tray currently leads back to the app. */
  readonly inTray: () => boolean;
  /** Index of the selected button, and whether to remember the answer. */
  readonly showQuestion: (question: Question) => Promise<{ readonly button: number; readonly remember: boolean }>;
}

/**
 * Without a tray the running services are invisible, and quitting is not the usual meaning of closing a window: the
 * user decides.
 */
const getQuestion = (): Question => ({
  message: m.closeQuestion(),
  detail: m.closeDetail(),
  buttons: [m.closeKeep(), m.quit(), m.cancel()],
  remember: m.rememberChoice(),
});
const choicesByButton: readonly Closing[] = ['hide', 'quit', 'stay'];

/** Returns the current effect of closing the window, for the tray menu and the pages. */
export function getCloseBehavior(preferences: Preferences, inTray: boolean): { choice: WhenClosed; inTray: boolean } {
  const inTrayChoice = preferences.get('keepRunning') ? 'keep' : 'quit';
  return { choice: inTray ? inTrayChoice : preferences.get('closing'), inTray };
}

/** Stores the effect of closing the window. */
export function setCloseBehavior(preferences: Preferences, inTray: boolean, choice: WhenClosed): void {
  if (inTray) preferences.set('keepRunning', choice !== 'quit');
  else preferences.set('closing', choice);
}

/** Returns the effect of closing the window; shows a question unless the user has decided before. */
export function decideClosing({ preferences, inTray, showQuestion }: ClosingDependencies): Closing | Promise<Closing> {
  const { choice } = getCloseBehavior(preferences, inTray());
  if (choice !== 'ask') return choice === 'keep' ? 'hide' : 'quit';
  return decideByAsking({ preferences, showQuestion });
}

async function decideByAsking({
  preferences,
  showQuestion,
}: Pick<ClosingDependencies, 'preferences' | 'showQuestion'>): Promise<Closing> {
  const { button, remember } = await showQuestion(getQuestion());
  const meaning = choicesByButton[button] ?? 'stay';
  if (remember && meaning !== 'stay') {
    preferences.set('closing', (meaning === 'hide' ? 'keep' : 'quit') satisfies WhenClosed);
  }
  return meaning;
}
