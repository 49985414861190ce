/** The views of several runs, in a script that is loaded only for them. */
export { CompareView } from "./compare/compare_view.tsx";
export { GroupView } from "./groups/group_view.tsx";
