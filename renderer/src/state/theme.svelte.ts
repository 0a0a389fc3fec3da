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
    try {
      if (choice === 'system') localStorage.removeItem(place);
      else localStorage.setItem(place, choice);
    } catch {
      // Where the browser keeps nothing, it lasts as long as the page.
    }
    this.#show();
  }

  #show(): void {
    document.documentElement.dataset['theme'] = this.choice;
  }
}

function stored(): ThemeChoice {
  try {
    const kept = localStorage.getItem(place);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}

export const theme = new Theme();
