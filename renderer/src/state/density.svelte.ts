import { MediaQuery } from 'svelte/reactivity';
import { readLocalStorage, writeLocalStorage } from './local-storage.ts';

const storageKey = 'homeport.density';
type DensityChoice = 'comfortable' | 'compact';

/** Height of compact rows in relation to comfortable ones. */
const compactScale = 0.82;

/** The density of the pages in this browser. Fingers need space, so that it has no effect on touch screens. */
class Density {
  choice = $state<DensityChoice>(readLocalStorage(storageKey) === 'compact' ? 'compact' : 'comfortable');
  readonly #hasPointer = new MediaQuery('(pointer: fine)');
  /** Factor for rows whose height is set by scripts. */
  readonly rowScale = $derived(this.choice === 'compact' && this.#hasPointer.current ? compactScale : 1);

  constructor() {
    this.#apply();
  }

  choose(choice: DensityChoice): void {
    this.choice = choice;
    writeLocalStorage(storageKey, choice === 'comfortable' ? null : choice);
    this.#apply();
  }

  #apply(): void {
    document.documentElement.dataset['density'] = this.choice;
  }
}

export const density = new Density();
