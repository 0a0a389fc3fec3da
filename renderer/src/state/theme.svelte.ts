import { writeLocalStorage, readLocalStorage } from './local-storage.ts';

const storageKey = 'homeport.theme';
/** The selected theme; `system` follows the operating system. */
type ThemeChoice = 'light' | 'dark' | 'system';

/** Color of the page in each theme (`--ground`), which browsers use for their own bars. */
const pageColors = { light: '#f7fbfc', dark: '#0d151b' } as const;

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
    for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
      const systemTheme = meta.media.includes('dark') ? 'dark' : 'light';
      meta.content = pageColors[this.choice === 'system' ? systemTheme : this.choice];
    }
  }
}

function readStored(): ThemeChoice {
  const value = readLocalStorage(storageKey);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export const theme = new Theme();
