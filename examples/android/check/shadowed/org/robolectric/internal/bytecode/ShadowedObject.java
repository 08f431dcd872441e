package org.robolectric.internal.bytecode;

/**
 * Every class of Robolectric's Android has this interface, and implements it in
 * a way that Kotlin does not see. Kotlin compiles subclasses, such as the app's
 * Activity, only if the interface is empty. The tests have the real one.
 */
public interface ShadowedObject {
}
