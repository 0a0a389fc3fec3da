import { keep, readKept } from './local-storage.ts';

const place = 'homeport.theme';
/** What a person chose; `system`: as the system has it. */
type ThemeChoice = 'light' | 'dark' | 'system';

/** Which of the two themes this browser shows. */
class Theme {
  choice = $state<ThemeChoice>(stored());

  constructor() {
    this.#show();
  }

  choose(choice: ThemeChoice): void {
    this.choice = choice;
    keep(place, choice === 'system' ? null : choice);
    this.#show();
  }

  #show(): void {
    document.documentElement.dataset['theme'] = this.choice;
  }
}

function stored(): ThemeChoice {
  const kept = readKept(place);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export const theme = new Theme();
