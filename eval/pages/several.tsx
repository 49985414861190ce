/** The view of several runs, in a script that is loaded only for it. */
export { CompareView } from "./compare/compare_view.tsx";
