import { writeLocalStorage, readLocalStorage } from './local-storage.ts';

const storageKey = 'homeport.theme';
/** The selected theme; `system` follows the operating system. */
type ThemeChoice = 'light' | 'dark' | 'system';

/** The theme of the pages in this browser. */
class Theme {
  choice = $state<ThemeChoice>(readStored());

  constructor() {
    this.#apply();
  }

  choose(choice: ThemeChoice): void {
    this.choice = choice;
    writeLocalStorage(storageKey, choice === 'system' ? null : choice);
    this.#apply();
  }

  #apply(): void {
    document.documentElement.dataset['theme'] = this.choice;
  }
}

function readStored(): ThemeChoice {
  const value = readLocalStorage(storageKey);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export const theme = new Theme();
