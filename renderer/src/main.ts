import './jitless.ts';
import { mount } from 'svelte';
import App from './App.svelte';
import './fonts.css';
import './theme.css';
// Theme and density are applied before the first rendering, so that others do not flash.
import './state/density.svelte.ts';
import { language } from './state/language.svelte.ts';
import './state/theme.svelte.ts';

// Texts in another language than English are loaded before the first rendering.
await language.start();
const target = document.getElementById('app');
if (target) mount(App, { target });
