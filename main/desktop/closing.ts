import type { WhenClosed } from '../../services/contracts/control/desktop.ts';
import type { Preferences } from './preferences.ts';

/** What becomes of a window that somebody closes. */
export type Closing = 'hide' | 'quit' | 'stay';

/** A question with buttons, as the system shows it. */
export interface Question {
  readonly message: string;
  readonly detail: string;
  readonly buttons: readonly string[];
  readonly remember: string;
}

export interface ClosingParts {
  readonly preferences: Preferences;
  /** Whether an icon in the tray leads back to the app now. */
  readonly inTray: () => boolean;
  /** Index of the button, and whether the answer is for good. */
  readonly ask: (question: Question) => Promise<{ readonly button: number; readonly remember: boolean }>;
}

/** Without a tray nothing shows that the services go on, and ending them is not what closing a window means: the person decides. */
const question: Question = {
  message: 'Keep Homeport running?',
  detail:
    'This desktop shows no icons of programs in the background. If Homeport keeps running, its services go on without a ' +
    'window; starting Homeport again brings the window back. If you quit, nothing is received, downloaded or passed on ' +
    'until it is started again.',
  buttons: ['Keep running', 'Quit Homeport', 'Cancel'],
  remember: 'Remember my choice',
};
const meanings: readonly Closing[] = ['hide', 'quit', 'stay'];

/** What closing the window does now, as the tray's menu and the pages have it. */
export function whenClosed(preferences: Preferences, inTray: boolean): { choice: WhenClosed; inTray: boolean } {
  const inTrayChoice = preferences.get('keepRunning') ? 'keep' : 'quit';
  return { choice: inTray ? inTrayChoice : preferences.get('closing'), inTray };
}

/** Lets the person say so once for all. */
export function setWhenClosed(preferences: Preferences, inTray: boolean, choice: WhenClosed): void {
  if (inTray) preferences.set('keepRunning', choice !== 'quit');
  else preferences.set('closing', choice);
}

/** Says what closing the window does, and asks where the person has not said. */
export function decideClosing({ preferences, inTray, ask }: ClosingParts): Closing | Promise<Closing> {
  const { choice } = whenClosed(preferences, inTray());
  if (choice !== 'ask') return choice === 'keep' ? 'hide' : 'quit';
  return decideByAsking({ preferences, ask });
}

async function decideByAsking({ preferences, ask }: Pick<ClosingParts, 'preferences' | 'ask'>): Promise<Closing> {
  const { button, remember } = await ask(question);
  const meaning = meanings[button] ?? 'stay';
  if (remember && meaning !== 'stay') {
    preferences.set('closing', (meaning === 'hide' ? 'keep' : 'quit') satisfies WhenClosed);
  }
  return meaning;
}
