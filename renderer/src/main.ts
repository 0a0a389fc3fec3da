import './jitless.ts';
import { mount } from 'svelte';
import App from './App.svelte';
import './fonts.css';
import './theme.css';
// The theme is applied before the first rendering, so that the other theme does not flash.
import { language } from './state/language.svelte.ts';
import './state/theme.svelte.ts';

// Texts in another language than English are loaded before the first rendering.
await language.start();
const target = document.getElementById('app');
if (target) mount(App, { target });
